r"""The confidence that an answer states, as Humanity's Last Exam asks for it: "Confidence: 85%"."""

from __future__ import annotations

import re

from toolorchestra.reward.match_extract import plain, without_thinking

# possessive: of "85-90%" the 8 alone must not be read
_STATED = re.compile(
    r"\bconfidence\b(?:\s+(?:score|level))?(?:\s*\([^()\n]{0,40}\))?\s*[*_]{0,3}"
    r"\s*(?::|=|\bis\b)\s*[*_`$]{0,3}\s*(?:(?:about|around|approximately)\s+|[~\u2248]\s*)?"
    r"(?P<number>\d++(?:[.,]\d++)?+|\.\d++)"
    r"(?P<unit>\s*(?:\\?%|percent\b|/\s*100\b))?+"
    r"(?!\s*(?:-|to\b|/)\s*\d)",
    re.IGNORECASE,
)


def stated_confidence(answer: str) -> float | None:
    """Reads how sure an answer says it is, outside its thinking.

    A number without a unit means percent, unless it is written as a share: "0.85" is 85 %, "1" is
    1 %. Of several statements the last counts.

    Returns:
        From 0 to 1. None where none is stated, or it is a word, a range, another scale ("9/10") or
        beyond 100 %.
    """
    found = list(_STATED.finditer(plain(without_thinking(answer))))
    if not found:
        return None
    number, unit = found[-1]["number"].replace(",", "."), found[-1]["unit"]
    value = float(number)
    is_share = not unit and "." in number and value <= 1
    confidence = value if is_share else value / 100
    return confidence if confidence <= 1 else None
