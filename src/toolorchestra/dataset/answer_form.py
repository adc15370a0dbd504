r"""Which matcher can check a reference answer that says nothing of its kind.

Tables of questions mix figures, formulas, letters, names and whole paragraphs. An answer that no
matcher could recognise would make every rollout wrong, so that it is better left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

_MAX_WORDS = 6
"""A text answer with more words can be put in too many ways to be matched."""
_MAX_ITEM_WORDS = 4
_MAX_CHARS = 300
"""Longer than this, no formula is compared."""

_WRAPPED = re.compile(
    r"\*\*([^*]+)\*\*|\$\$([^$]+)\$\$|\$([^$]+)\$|\\\((.+)\\\)|\\boxed\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}",
    re.DOTALL,
)
_YES_NO = frozenset(["yes", "no", "true", "false"])
_FIGURE = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"[-+\u2212]?[$€£¥]?(?:{_FIGURE})(?:[eE][-+]?\d+|/\d+)?"
    r"(?:%|(?:km|cm|mm|kg|mg|ml|m|g|s|h)| (?:[A-Za-z]+(?:/[A-Za-z]+)?))?"
)
_DATE_LIKE = re.compile(
    r"\d{4}-\d|(?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)
_DATE_FORMS = (
    "%Y-%m-%d",
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%B %Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%b %d %Y",
    "%b %Y",
)
_TEX = re.compile(r"\\[A-Za-z]+|[\^√π≤≥]|[A-Za-z)] ?= ?\S")
_TEX_COMMAND = re.compile(r"\\[A-Za-z]+")
_FUNCTION_TEXT = """
    sin cos tan log ln exp max min mod and or sqrt dx dy dt pi
"""
_FUNCTIONS = frozenset(_FUNCTION_TEXT.split())
_BRACKETED = re.compile(r"[(\[{].*[)\]}]", re.DOTALL)
_OPTION = re.compile(r"([A-J])[.):]\s+")
_PICKED = re.compile(r"\(?([A-J])(?:[.):]+\s*(.*))?", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerForm:
    """A reference answer as a matcher takes it."""

    kind: str
    answer: str
    options: tuple[str, ...] = ()
    """Of a multiple-choice question, in order."""


def form_of(question: str, answer: str) -> AnswerForm | None:
    """The kind of `answer`, or None where no matcher could tell a right answer from a wrong one."""
    bare = _bare(answer)
    if not any(char.isalnum() for char in bare):
        return None
    if bare.lower() in _YES_NO:
        return AnswerForm(kind="yes_no", answer=bare)
    options = options_of(question)
    if options and (letter := _letter(bare, options)):
        return AnswerForm(kind="choice", answer=letter, options=options)
    was_tex = any(mark in answer and mark not in bare for mark in ("$", r"\("))
    kind = _kind(bare, is_formula=was_tex or bool(_TEX.search(bare)))
    return AnswerForm(kind=kind, answer=bare) if kind else None


def options_of(question: str) -> tuple[str, ...]:
    """The options that a question lists as "A. ...", "(B) ..." and so on; () where it does not."""
    marks = [mark for mark in _OPTION.finditer(question) if _begins_word(question, mark.start())]
    # the text before may hold a letter and a full stop as well: the last "A." begins the list
    starts = [i for i, mark in enumerate(marks) if mark[1] == "A"]
    marks = marks[starts[-1] :] if starts else []
    if len(marks) < 2 or any(mark[1] != chr(ord("A") + i) for i, mark in enumerate(marks)):
        return ()
    ends = [mark.start() for mark in marks[1:]] + [len(question)]
    texts = (question[mark.end() : end] for mark, end in zip(marks, ends, strict=True))
    return tuple(text.strip().removesuffix(" (").removesuffix("\n(").strip() for text in texts)


def _begins_word(text: str, place: int) -> bool:
    """Whether a word begins at `place`, or a bracket before it does."""
    before = text[max(0, place - 2) : place].removesuffix("(")
    return not before or before[-1].isspace()


def _bare(text: str) -> str:
    """`text` without the Markdown and TeX around the whole of it, and without a last full stop."""
    while True:
        before, text = text, text.strip()
        if match := _WRAPPED.fullmatch(text):
            text = next(filter(None, match.groups()), "")
        if text.endswith(".") and not text.endswith(".."):
            text = text[:-1]
        if text == before:
            return text


def _letter(bare: str, options: tuple[str, ...]) -> str | None:
    """The letter of the option that is right, given as letter, as words or as both."""
    said = [option.casefold().rstrip(". ") for option in options]
    if said.count(bare.casefold()) == 1:
        return chr(ord("A") + said.index(bare.casefold()))
    picked = _PICKED.fullmatch(bare)
    place = ord(picked[1]) - ord("A") if picked else len(options)
    if not picked or place >= len(options):
        return None
    return picked[1] if not picked[2] or picked[2].casefold() == said[place] else None


def _kind(bare: str, *, is_formula: bool) -> str | None:
    if _NUMBER.fullmatch(bare):
        return "date" if _is_date(bare) else "number"
    if _is_date(bare):
        return "date"
    items = _items(bare)
    if _BRACKETED.fullmatch(bare) and not is_formula:
        if len(items) < 3 and bare[0] != "{":
            return "math"  # a point or an interval, whose brackets matter
        return ("set" if bare[0] == "{" else "list") if _are_short(items) else None
    if is_formula:
        return "math" if len(bare) <= _MAX_CHARS and not _has_prose(bare) else None
    if len(items) > 2 or (len(items) == 2 and all(map(_NUMBER.fullmatch, items))):
        return "list" if _are_short(items) else None
    is_short = len(bare.split()) <= _MAX_WORDS and "\n" not in bare
    return "text" if is_short else None


def _is_date(bare: str) -> bool:
    """Whether `bare` is a day or month with its year; "03/04/1776" can mean two days."""
    if not _DATE_LIKE.match(bare):
        return False
    for form in _DATE_FORMS:
        try:
            datetime.strptime(bare, form)
        except ValueError:
            continue
        return True
    return False


def _items(bare: str) -> list[str]:
    inner = bare[1:-1] if _BRACKETED.fullmatch(bare) else bare
    separator = ";" if ";" in inner else r",(?!\d{3}\b)|,\s"
    return [item.strip() for item in re.split(separator, inner)]


def _are_short(items: list[str]) -> bool:
    return all(
        any(char.isalnum() for char in item) and len(item.split()) <= _MAX_ITEM_WORDS
        for item in items
    )


def _has_prose(formula: str) -> bool:
    words = re.findall(r"[A-Za-z]{2,}", _TEX_COMMAND.sub(" ", formula))
    return any(word.lower() not in _FUNCTIONS for word in words)
