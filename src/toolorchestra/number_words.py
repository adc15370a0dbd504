"""Numbers written as words: "twenty-one", "two million three hundred thousand"."""

from __future__ import annotations

import re
from fractions import Fraction

_TO_NINETEEN = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TO_NINETY = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_TO_NINETEEN.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TO_NINETY.split(), start=2)}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_NUMBER_WORD = "|".join(
    sorted([*_SMALL, *_TENS, *SCALES, "hundred", "dozen"], key=len, reverse=True)
)
_PHRASE = re.compile(
    rf"\b(?:(?P<sign>minus|negative) )?"
    rf"(?P<half>half (?=a dozen))?"
    rf"(?P<words>(?:a (?=hundred|thousand|million|dozen))?(?:{_NUMBER_WORD})"
    rf"(?:[ -](?:and )?(?:{_NUMBER_WORD}))*)\b",
    re.IGNORECASE,
)


def _value(words: list[str]) -> int | None:
    """The number that `words` spell, or None where they spell several or none."""
    total = part = 0
    last: int | None = None  # size of the previous word within its group of three digits
    for word in words:
        if word in _SMALL or word in _TENS:
            size = 1 if word in _SMALL else 10
            if last is not None and last <= size:
                return None
            value = _SMALL.get(word, _TENS.get(word, 0))
            if last == 10 and value > 9:
                return None
            part, last = part + value, size
        elif word in ("hundred", "dozen"):
            if last in (10, 100):
                return None
            part, last = (part or 1) * (100 if word == "hundred" else 12), 100
        else:
            total += (part or 1) * SCALES[word]
            part, last = 0, None
    return total + part


def words_to_numbers(text: str) -> list[tuple[int, int, Fraction | None]]:
    """All numbers in words in `text`: start, end and value; None for a run of words that spell no
    single number ("five six")."""
    found = []
    for match in _PHRASE.finditer(text):
        words = re.split(r"[ -]", match["words"].lower())
        value = _value([word for word in words if word not in ("a", "and")])
        factor = Fraction(-1 if match["sign"] else 1, 2 if match["half"] else 1)
        found.append((match.start(), match.end(), None if value is None else factor * value))
    return found
