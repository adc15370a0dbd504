"""Whether a text picks an option of a multiple-choice question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolorchestra.reward.match_extract import final_answer, unwrapped
from toolorchestra.reward.match_text import match_text, words_of

_WRAPPED = re.compile(r"[(\[]([A-J])[)\]]|\b([A-J])[).:](?=\s|$)|\*\*([A-J])\*\*")
_NAMED = re.compile(r"\b(?:option|choice|letter)s?\s+([A-J])\b", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w'])([B-HJ])(?![\w'])")
_BARE_A_OR_I = re.compile(r"(?<![\w'])([AI])(?=\s*(?:$|[,.;/]|\b(?:and|or)\b))")
_NEGATION = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor|\bexcept)\s+(?:(?!but\b)\w+\s+){0,2}[(\[*]*$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"[)\]*.:]*\s+(?:is|was)"
    r"(?:\s+(?:(?!not\b)\w+\s+)?(?:wrong|incorrect|false)|(?:\s+not|n't)\s+(?:right|correct|true))\b",
    re.IGNORECASE,
)
_NEGATION_CHARS = 60


def _letters_in(text: str) -> set[str]:
    """The letters that `text` picks, without those that it denies."""
    found: set[str] = set()
    for pattern in (_WRAPPED, _NAMED, _BARE, _BARE_A_OR_I):
        for match in pattern.finditer(text):
            letter = next(group for group in match.groups() if group)
            before = text[max(0, match.start() - _NEGATION_CHARS) : match.start()]
            if not _NEGATION.search(before) and not _DENIED.match(text, match.end()):
                found.add(letter.upper())
    return found


def match_choice(gold: str, answer: str, *, options: Sequence[str] = ()) -> bool | None:
    """Whether `answer` picks the option `gold` and no other.

    Args:
        gold: The letter of the right option, "A" to "J".
        answer: A letter in any dress ("(B)", "B. Paris", "The answer is B"), or the words of an
            option.
        options: The options' texts in order, where they are known.

    Returns:
        None where `gold` is no letter from A to J.
    """
    wanted = unwrapped(gold).strip("()[]. ").upper()
    if not re.fullmatch("[A-J]", wanted):
        return None
    text = final_answer(answer).text
    words = words_of(text)
    named = [chr(ord("A") + i) for i, option in enumerate(options) if words_of(option) == words]
    if not named:
        named = [chr(ord("A") + i) for i, option in enumerate(options) if match_text(option, text)]
    if named:
        return named == [wanted]
    if re.fullmatch("[a-j]", text):
        return text.upper() == wanted
    return _letters_in(text) == {wanted}
