"""The text of single sampled tokens, so that each can be shown with its log-probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import try_to_load_from_cache
from tokenizers import Tokenizer

from toolorchestra.types import Rollout, Turn

FILE = "tokenizer.json"
BROKEN = "\ufffd"
"""What a tokenizer makes of a part of a character."""
SCRIPTED = "A scripted policy chose these messages: they have no log-probabilities."
UNLOGGED = "The policy's server gave no log-probabilities."
UNREADABLE = (
    "Log-probabilities were logged, but the policy's tokenizer.json is neither in the run's folder "
    "nor on this machine, so that tokens cannot be shown as text."
)


def find_tokenizer(run_dir: Path, model_path: str) -> Path | None:
    """Where the tokenizer of a run's policy lies, without asking any network.

    Args:
        run_dir: The run's folder, whose `model/` a training leaves.
        model_path: `model.path` of its config: "tiny", a folder or a hub name; "" if not known.
    """
    shipped = Path(__file__).parents[1] / "model" / "tiny"
    folders = [run_dir / "model", shipped if model_path == "tiny" else Path(model_path)]
    for folder in folders:
        if (folder / FILE).is_file():
            return folder / FILE
    try:
        cached = try_to_load_from_cache(model_path, FILE)
    except ValueError:  # no name that the hub could have
        return None
    return Path(cached) if isinstance(cached, str) else None


class Pieces:
    """Cuts messages into their tokens' texts."""

    def __init__(self, path: Path | None) -> None:
        """Loads the tokenizer; None: there is none."""
        self._tokenizer = None if path is None else Tokenizer.from_file(str(path))
        self._texts: dict[int, str] = {}

    def why_none(self, rollout: Rollout) -> str:
        """A sentence on why no log-probabilities can be shown; empty where they can."""
        logged = [value for turn in rollout.turns for value in turn.logprobs]
        if not logged:
            return UNLOGGED if rollout.turns else ""
        if not any(logged):
            return SCRIPTED
        return UNREADABLE if self._tokenizer is None else ""

    def of(self, turn: Turn) -> Mapping[str, Sequence[Any]]:
        """Texts and natural log-probabilities of a message's tokens.

        Tokens that only together make a character share a text, and their log-probabilities add up.
        """
        texts: list[str] = []
        logprobs: list[float] = []
        held: list[int] = []
        held_logprob = 0.0
        for token, logprob in zip(turn.completion_ids, turn.logprobs, strict=True):
            held.append(token)
            held_logprob += logprob
            text = self._text(token) if len(held) == 1 else self._decode(held)
            if BROKEN not in text or len(held) == 4:  # no character has more than four bytes
                texts.append(text)
                logprobs.append(round(held_logprob, 4))
                held, held_logprob = [], 0.0
        if held:
            texts.append(self._decode(held))
            logprobs.append(round(held_logprob, 4))
        return {"texts": texts, "logprobs": logprobs}

    def _text(self, token: int) -> str:
        if token not in self._texts:
            self._texts[token] = self._decode([token])
        return self._texts[token]

    def _decode(self, tokens: list[int]) -> str:
        assert self._tokenizer is not None, "why_none tells where there is no tokenizer"
        return str(self._tokenizer.decode(tokens, skip_special_tokens=False))
