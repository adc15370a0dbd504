r"""The final answer within prose: what a matcher compares.

Thinking is never an answer. Of all marked answers ("Answer: x", "\boxed{x}", "the answer is x") the
last one wins; without a mark the whole text stands.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

MAX_CHARS = 10_000
"""Longer texts are cut to this many characters at their end, where final answers are."""

_MAX_UNCLOSED = 20
"""Boxes that never close are given up after this many, which bounds the time they cost."""

_MAX_IN_ROW = 50
_GAP = r"(?:[\s$.]|\\[,;:! ()\[\]]|\\q?quad)*"
JOINT = re.compile(
    rf"{_GAP}(?:(?:[,;&]|\band\b|\bor\b|\\text\s*\{{[\s,]*(?:and|or)[\s,]*\}}){_GAP})+"
)
"""What may stand between two boxes, or two formulas, that are items of one answer."""

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_MARK = re.compile(
    r"(?:^|(?<=[\s*_(>#]))"
    r"(?:(?:my|the|so the|thus the|and the)\s+)?(?:final\s+|correct\s+|exact\s+)?"
    r"(?:answer|result|solution)"
    r"\s*[*_]{0,3}\s*(?::|=|\bis\b)\s*[*_]{0,3}\s*:?",
    re.IGNORECASE,
)
_TEX_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox)\s*\{([^{}]*)\}")
_WRAPPERS = (("**", "**"), ("__", "__"), ("*", "*"), ("`", "`"), ("$", "$"), (r"\(", r"\)"))
_SPACES = re.compile(r"[^\S\n]+")
_SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
_POWER = re.compile(rf"(?<=[\w)])[{_SUPERSCRIPTS}]+")
_FRACTION_SIGN = re.compile("(?<=\\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_PLAIN_SIGNS = str.maketrans("\u2212\u2010\u2011\u2013\u2044", "----/")


@dataclass(frozen=True, kw_only=True, slots=True)
class FinalAnswer:
    """What an answer comes down to."""

    text: str
    is_marked: bool
    """Whether the text itself says that this is the final answer."""


def plain(text: str) -> str:
    """`text` in Unicode form NFKC with plain signs, written-out powers and single spaces."""
    text = _POWER.sub(lambda match: f"^{match[0]}", text)  # NFKC alone makes 10 squared 102
    text = _FRACTION_SIGN.sub(" ", text)  # and two and a half 21/2
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text).translate(_PLAIN_SIGNS)).strip()


def _boxed_before(text: str, end: int) -> tuple[int, int, str] | None:
    r"""Start, end and content of the last "\boxed{...}" before `end` whose braces close."""
    start = text.rfind(r"\boxed", 0, end)
    for _ in range(_MAX_UNCLOSED):
        if start < 0:
            break
        opening = text.find("{", start)
        depth = 0
        for place in range(opening, len(text)) if opening >= 0 else ():
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                return start, place + 1, text[opening + 1 : place]
        start = text.rfind(r"\boxed", 0, start)
    return None


def _last_boxed(text: str) -> tuple[int, str] | None:
    r"""Position and content of the last "\boxed{...}", with those that it stands in a row with."""
    last = _boxed_before(text, len(text))
    if last is None:
        return None
    start, contents = last[0], [last[2]]
    while len(contents) < _MAX_IN_ROW:
        before = _boxed_before(text, start)
        if before is None or not JOINT.fullmatch(text, before[1], start):
            break
        start = before[0]
        contents += [] if before[2] in contents else [before[2]]
    return start, ", ".join(reversed(contents))


def unwrapped(text: str) -> str:
    r"""`text` without the Markdown and TeX around the whole of it, and without a last full stop."""
    text = text.strip()
    while True:
        before = text
        text = _TEX_TEXT.sub(r"\1", text).strip()
        for left, right in _WRAPPERS:
            if len(text) > len(left + right) and text.startswith(left) and text.endswith(right):
                text = text[len(left) : len(text) - len(right)].strip()
        if len(text) > 1 and text.endswith(".") and not text.endswith(".."):
            text = text[:-1].strip()
        if text == before:
            return text


def without_thinking(text: str) -> str:
    """The end of `text` without the thoughts in it; "" where there is nothing else."""
    return _THINKING.sub(" ", text[-MAX_CHARS:].rpartition("</think>")[2]).strip()


def final_answer(text: str) -> FinalAnswer:
    r"""Find what `text` gives as its answer.

    Args:
        text: An answer as a model wrote it; of a very long one only the end is read.

    Returns:
        The last marked answer, up to the end of its line, or else the whole text; "" where there is
        nothing but thinking.
    """
    text = plain(without_thinking(text))
    marks = [match for match in _MARK.finditer(text) if text[match.end() :].strip()]
    boxed = _last_boxed(text)
    if boxed is not None and (not marks or marks[-1].start() < boxed[0]):
        return FinalAnswer(text=unwrapped(boxed[1]), is_marked=True)
    if marks:
        rest = text[marks[-1].end() :].strip()
        if boxed is not None and r"\boxed" in rest:
            return FinalAnswer(text=unwrapped(boxed[1]), is_marked=True)
        return FinalAnswer(text=unwrapped(rest.split("\n")[0]), is_marked=True)
    return FinalAnswer(text=unwrapped(text), is_marked=False)
