"""Whether a text gives a list or a set: item by item, numbers as values and words as words."""

from __future__ import annotations

import re

from toolorchestra.reward.match_extract import final_answer, unwrapped
from toolorchestra.reward.match_number import match_number
from toolorchestra.reward.match_text import match_text, words_of

_BRACKETS = {"[": "]", "(": ")", "{": "}"}
_LINE_MARK = re.compile(r"^\s*(?:[-*\u2022]|\d+[.)])\s+")
_AND = re.compile(r"\s*,?\s+and\s+|\s*&\s*")
_MAX_ITEMS = 200


def split_items(text: str) -> list[str]:
    """The items of `text`: its lines, or what semicolons, commas and "and" separate.

    Commas without a space behind them separate only where no comma has one, so that "1,234, 5" has
    two items.
    """
    text = unwrapped(text).replace(r"\{", "{").replace(r"\}", "}").strip()
    if text[:1] in _BRACKETS and text.endswith(_BRACKETS[text[0]]):
        text = text[1:-1]
    lines = [_LINE_MARK.sub("", line) for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        return [line.strip(" ,;.") for line in lines]
    line = _AND.sub("; " if ";" in text else ", ", lines[0] if lines else "")
    separator = r"\s*;\s*" if ";" in line else r",\s+" if re.search(r",\s", line) else r"\s*,\s*"
    items = [item.strip().strip("'\"") for item in re.split(separator, line)]
    return [item for item in items if item]


def _same_item(gold: str, other: str) -> bool:
    if words_of(gold) == words_of(other) and words_of(gold):
        return True
    is_number = re.fullmatch(r"[\d.,+\-/^eE %$€£]+", gold) is not None
    return bool(match_number(gold, other) if is_number else match_text(gold, other))


def match_list(gold: str, answer: str) -> bool | None:
    """Whether `answer` gives the items of `gold` in the same order.

    Returns:
        None where `gold` has no item.
    """
    wanted = split_items(gold)
    if not wanted:
        return None
    given = split_items(final_answer(answer).text)
    return len(given) == len(wanted) and all(map(_same_item, wanted, given))


def match_set(gold: str, answer: str) -> bool | None:
    """Whether `answer` gives the items of `gold` in any order, repeated or not.

    Returns:
        None where `gold` has no item, or more than 200 of them.
    """
    wanted = split_items(gold)
    if not wanted or len(wanted) > _MAX_ITEMS:
        return None
    given = split_items(final_answer(answer).text)
    if len(given) > _MAX_ITEMS:
        return False
    return all(any(_same_item(item, other) for other in given) for item in wanted) and all(
        any(_same_item(item, other) for item in wanted) for other in given
    )
