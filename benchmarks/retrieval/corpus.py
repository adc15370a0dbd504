"""Generated passages with neighbours: each is written in the words of one of many topics."""

from __future__ import annotations

import json
import random
from pathlib import Path

NUM_TOPICS = 400
WORDS_A_TOPIC = 40
WORDS_A_TEXT = 14
CONSONANTS = ("b", "d", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl")
COMMON = ("the", "of", "and", "in", "to", "a", "was", "is", "by", "for", "with", "as", "on", "at")


class Writer:
    """Writes texts; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        """Invents the topics' words."""
        self._rng = random.Random(seed)
        words = [self._word() for _ in range(NUM_TOPICS * WORDS_A_TOPIC // 4)]
        # words are shared by topics, as in a language
        self._topics = [self._rng.sample(words, WORDS_A_TOPIC) for _ in range(NUM_TOPICS)]

    def _word(self) -> str:
        num_syllables = self._rng.randint(2, 3)
        return "".join(self._rng.choice(CONSONANTS) + self._rng.choice("aeiou")
                       for _ in range(num_syllables))  # fmt: skip

    def text(self, num_words: int = WORDS_A_TEXT) -> str:
        """Of one topic, of which some words are likelier than others."""
        topic = self._rng.choice(self._topics)
        weights = [1 / (rank + 1) for rank in range(len(topic))]
        own = self._rng.choices(topic, weights, k=num_words)
        return " ".join(f"{word} {self._rng.choice(COMMON)}" for word in own)


def write_corpus(path: Path, writer: Writer, *, count: int) -> None:
    """A JSONL file of so many passages."""
    with path.open("w") as file:
        for i in range(count):
            file.write(json.dumps({"id": str(i), "text": writer.text()}) + "\n")
