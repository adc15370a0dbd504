"""What a judge's reply says: a verdict from JSON or from words, or nothing that can be read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, cast

from toolorchestra.judge.prompt import VERDICTS
from toolorchestra.reward.match_judgement import parse_judgement

VerdictWord = Literal["correct", "incorrect", "not_attempted"]

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*(?P<body>\{.*\})\s*```", re.DOTALL | re.IGNORECASE)
_NAMED = re.compile(r"[\"']verdict[\"']\s*:")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """What the judge decided, and why."""

    verdict: VerdictWord
    reasoning: str = ""


def read_reply(text: str) -> Ruling | None:
    """Reads a reply that is whole.

    JSON counts where it is the whole reply, or what a code fence holds. Words count only where no
    JSON was begun: of broken JSON, the reasoning would be taken for the verdict.

    Returns:
        None where nothing can be read, which leaves the answer unscored, never wrong.
    """
    said = _THINKING.sub(" ", text).strip()
    fence = _FENCE.search(said)
    body = fence["body"] if fence else said
    if body.startswith("{") or _NAMED.search(said):
        return _from_json(body)
    is_correct = parse_judgement(said)
    if is_correct is None:
        return None
    return Ruling(verdict="correct" if is_correct else "incorrect", reasoning=said)


def _from_json(body: str) -> Ruling | None:
    try:
        value = json.loads(body, object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    word = value.get("verdict")
    if not isinstance(word, str) or word.strip().lower() not in VERDICTS:
        return None
    reasoning = value.get("reasoning")
    return Ruling(
        verdict=cast(VerdictWord, word.strip().lower()),
        reasoning=reasoning if isinstance(reasoning, str) else "",
    )


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ: of two verdicts, none is taken."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)
