"""Whether a text says yes or no."""

from __future__ import annotations

import re

from toolorchestra.reward.match_extract import final_answer

_YES = frozenset(["yes", "true", "correct", "right", "y"])
_NO = frozenset(["no", "false", "incorrect", "wrong", "n"])
_NEGATIONS = frozenset(["not", "isn't", "wasn't", "aren't", "never"])
_HEDGES = frozenset(["and", "or", "maybe", "perhaps", "possibly"])
_WORD = re.compile(r"[a-z]+(?:'t)?")


def _says_yes(text: str) -> bool | None:
    """True for yes, False for no, None where it is neither or both."""
    words = _WORD.findall(text.lower().replace("\u2019", "'"))
    said: list[bool] = []
    for i, word in enumerate(words):
        if word in _YES | _NO:
            is_negated = bool(_NEGATIONS & set(words[max(0, i - 2) : i]))
            said.append((word in _YES) != is_negated)
            is_first = i == 0 and not _HEDGES & set(words[1:2])
            if is_first:
                return said[0]
    return said[0] if len(set(said)) == 1 and not _HEDGES & set(words) - {"and"} else None


def match_yes_no(gold: str, answer: str) -> bool | None:
    """Whether `answer` says the same as `gold`; "true" is yes, "not true" is no.

    A first word that is yes or no decides; after that, a text that says both says nothing.

    Returns:
        None where `gold` is neither yes nor no.
    """
    wanted = _says_yes(gold)
    if wanted is None:
        return None
    return _says_yes(final_answer(answer).text) is wanted
