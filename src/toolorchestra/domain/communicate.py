"""Whether something that had to be communicated stands in what was said to the user.

Numbers match as numbers and as whole tokens: 1628 is also "1,628", "1 628" and "$1,628.00", but 4
is not in "42", "#W1041", "4.5", "10:04" or "2031-05-04". Number words count. Days match with the
month's name too, times with "am" and "pm". Other texts match whole words, whatever their case and
spacing.
"""

from __future__ import annotations

import calendar
import datetime
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from toolorchestra.domain.value import is_date
from toolorchestra.number_words import SCALES, words_to_numbers

_SCALE = "|".join(["hundred", *SCALES])
_MAX_DIGITS = 40
# Possessive, and tried once for each word: a policy may well write a word of 10,000 letters.
_IDENTIFIERS = re.compile(
    r"(?<!\d)\d++(?:[-/.:]\d++){2,}"  # days, versions, long numbers in groups
    r"|(?<!\d)\d++[:/]\d++"  # times, fractions
    r"|#\s?[\w-]++"
    r"|(?<!\w)(?=\d*+[^\W\d])\w++-\d[\w-]*+"  # B-12
)
_NUMBER = re.compile(
    r"(?<![\w])(?<!\d[.,])(?P<sign>(?<![\w)\]])[-+])?[$€£]?"
    r"(?P<digits>\d{1,3}(?:[ ,'_]\d{3})+(?![\d])|\d+(?:,\d{1,2}(?![\d,]))?|(?=\.\d))"
    r"(?P<decimals>\.\d+)?(?![\w]|[.,]\d)"
    rf"(?: (?P<scale>{_SCALE})\b)?"
    r"(?P<percent> ?%| ?per ?cent\b)?",
    re.IGNORECASE,
)
_NO_COUNT = re.compile(
    r"\b(?:no|this|that|the|which|any|every|each|some)[ -]one\b|\bone (?:of|or|another)\b"
)
_EMPHASIS = re.compile(r"\*\*|(?<!\w)\*|\*(?!\w)")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Token:
    value: Fraction
    is_percent: bool = False


def _plain(text: str) -> str:
    """`text` with one case, one kind of space, quote, dash and digit."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub("[‐‑‒–—−]", "-", text).replace("’", "'").replace("⁄", "/")
    return _SPACES.sub(" ", _EMPHASIS.sub("", text)).strip()


def _numbers(text: str) -> Iterator[_Token]:
    text = _IDENTIFIERS.sub("¤", text)
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"[ '_]|,(?=\d{3})", "", match["digits"]).replace(",", ".")
        text_of_value = (digits or "0") + (match["decimals"] or "")
        if len(text_of_value) > _MAX_DIGITS:
            continue
        value = Fraction(text_of_value)
        if match["scale"]:
            value *= {"hundred": 100, **SCALES}[match["scale"]]
        value = -value if match["sign"] == "-" else value
        yield _Token(value=value, is_percent=bool(match["percent"]))
    without_digits = _NO_COUNT.sub("¤", re.sub(rf"\d (?:{_SCALE})\b", "¤", text))
    for _, end, spelled in words_to_numbers(without_digits):
        if spelled is not None:
            is_percent = re.match(r" ?(?:%|per ?cent\b)", without_digits[end:]) is not None
            yield _Token(value=spelled, is_percent=is_percent)


def _only_number(text: str) -> _Token | None:
    """The number that `text` is as a whole, or None."""
    match = _NUMBER.fullmatch(text)
    found = list(_numbers(text)) if match and not _IDENTIFIERS.search(text) else []
    return found[0] if len(found) == 1 else None


def _spellings_of_day(text: str) -> list[str]:
    day = datetime.date.fromisoformat(text)
    month, ending = day.month, r"(?:st|nd|rd|th)?"
    name = f"(?:{calendar.month_name[month]}|{calendar.month_abbr[month]}\\.?)".casefold()
    return [
        re.escape(text),
        rf"0?{day.day}{ending}(?: of)? {name},? {day.year}",
        rf"{name} 0?{day.day}{ending},? {day.year}",
    ]


def _holds_time(hour: int, minute: str, text: str) -> bool:
    """Whether a time stands in `text`, at the start of a span such as 9:30-10:00 too."""
    wrong, right = ("pm", "am") if hour < 12 else ("am", "pm")
    spellings = [
        rf"0?{hour}:{minute}(?! ?{wrong[0]}\.?m\b)",
        rf"0?{hour % 12 or 12}:{minute} ?{right[0]}\.?m\b",
    ]
    pattern = "|".join(spellings)
    return re.search(rf"(?<!\w)(?<!\d[-.,:])(?:{pattern})(?!:?\d)", text) is not None


def _holds(pattern: str, text: str) -> bool:
    bounded = rf"(?<!\w)(?<!\d[-.,])(?:{pattern})(?!\w)(?!(?<=\d)[-.,]\d)"
    return re.search(bounded, text) is not None


def is_said(wanted: str, message: str) -> bool:
    """Whether `message` communicates `wanted`."""
    wanted, message = _plain(wanted), _plain(message)
    if is_date(wanted):
        return any(_holds(pattern, message) for pattern in _spellings_of_day(wanted))
    if time := _TIME.fullmatch(wanted):
        return _holds_time(int(time[1]), time[2], message)
    number = _only_number(wanted)
    if number is not None:
        return number in _numbers(message)
    return _holds(re.escape(wanted), message)


def unsaid(wanted: Iterable[str], messages: Iterable[str]) -> tuple[str, ...]:
    """What of `wanted` stands in none of `messages`, each of which was said to the user."""
    messages = list(messages)
    return tuple(one for one in wanted if not any(is_said(one, text) for text in messages))
