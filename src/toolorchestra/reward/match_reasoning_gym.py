"""Whether a text solves a reasoning-gym task, by the verifier of the family that made it."""

from __future__ import annotations

from toolorchestra.dataset.gym import GYM_FAMILIES, gym_dataset
from toolorchestra.reward.match_extract import final_answer
from toolorchestra.reward.match_number import match_number
from toolorchestra.reward.match_text import match_text
from toolorchestra.types import Json

_FULL_SCORE = 1.0
"""Verifiers give partial credit, up to 0.9999 for a right word with more letters behind it."""


def match_reasoning_gym(metadata: Json, answer: str, *, question: str = "") -> bool | None:
    """Whether the family's verifier gives `answer` the full score, or its typed matcher accepts it.

    Verifiers are strict about form ("It is 72" scores little), matchers are not.

    Args:
        metadata: As `toolorchestra.dataset.gym.draw` makes it: family, entry and answer_kind.
        answer: The answer as the model wrote it.
        question: The question as it was put.

    Returns:
        None where the metadata names no known family or lacks the entry.
    """
    family, entry = metadata.get("family"), metadata.get("entry")
    if family not in GYM_FAMILIES or not isinstance(entry, dict) or "answer" not in entry:
        return None
    given = final_answer(answer).text
    if given and gym_dataset(family).score_answer(given, entry) == _FULL_SCORE:
        return True
    if metadata.get("answer_kind") == "number":
        return match_number(entry["answer"], answer)
    return match_text(entry["answer"], answer, question=question)
