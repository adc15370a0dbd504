"""Whether a text gives a date: day, month and year are compared, not the digits."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass

from toolorchestra.reward.match_extract import final_answer, plain

_MONTHS = {name.lower(): i for i, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): i for i, name in enumerate(calendar.month_abbr) if name}
_MONTHS["sept"] = 9
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_ERA = r"(?:BCE?|AD|CE)\b"
_YEAR = rf"(?P<year>\d{{3,4}}|\d{{1,2}}(?= ?{_ERA}))(?: ?(?P<era>{_ERA}))?"
_PATTERNS = tuple(
    re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE)
    for pattern in (
        r"(?P<year>\d{4})[-/.](?P<number>\d{1,2})[-/.](?P<day>\d{1,2})(?:T[\d:.]+Z?)?",
        rf"{_DAY}(?: of)? {_MONTH},? {_YEAR}",
        rf"{_MONTH} {_DAY},? {_YEAR}",
        r"(?P<first>\d{1,2})(?P<dash>[-/.])(?P<second>\d{1,2})(?P=dash)(?P<year>\d{4})",
        rf"{_MONTH},?(?: of)? {_YEAR}",
        rf"{_DAY}(?: of)? {_MONTH}",
        rf"{_MONTH} {_DAY}",
        _YEAR,
    )
)
"""From most to least exact: text that one has taken is not read again by the next."""
_LEAP_YEAR = 2000
_LAST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, kw_only=True, slots=True)
class Date:
    """A date of which only some parts may be known; years before our era are negative."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


def _is_real(date: Date) -> bool:
    if date.month is not None and not 1 <= date.month <= 12:
        return False
    if date.day is None or date.month is None:
        return True
    year = _LEAP_YEAR if date.year is None else date.year
    is_short_february = date.month == 2 and not calendar.isleap(year)
    last = 28 if is_short_february else _LAST_DAYS[date.month - 1]
    return 1 <= date.day <= last


def _dates_of(match: re.Match[str]) -> set[Date]:
    """The dates that one piece of text can mean: two where day and month may be swapped."""
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else None
    if year is not None and (parts.get("era") or "").upper().startswith("BC"):
        year = -year
    if parts.get("first"):
        pair = int(parts["first"]), int(parts["second"])
        options = [Date(year=year, month=month, day=day) for month, day in (pair, pair[::-1])]
    else:
        name, number, day = parts.get("month"), parts.get("number"), parts.get("day")
        month = _MONTHS[name.lower()] if name else int(number) if number else None
        options = [Date(year=year, month=month, day=int(day) if day else None)]
    return {date for date in options if _is_real(date)}


def find_dates(text: str) -> list[set[Date]]:
    """What each date in `text` can mean, in no special order; an empty set is no real date."""
    found = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            found.append(_dates_of(match))
        text = pattern.sub(lambda match: "#" * len(match[0]), text)
    return found


def _agrees(gold: Date, given: Date) -> bool:
    pairs = ((gold.year, given.year), (gold.month, given.month), (gold.day, given.day))
    return all(wanted is None or wanted == part for wanted, part in pairs)


def match_date(gold: str, answer: str) -> bool | None:
    """Whether `answer` gives the date `gold`, in any usual form.

    The answer may be more exact than `gold`, never less. "03/04/1776" can mean two days and so
    matches neither; two different dates give none.

    Returns:
        None where `gold` is no date, or an ambiguous one.
    """
    golds = find_dates(plain(gold))
    if len(golds) != 1 or len(golds[0]) != 1:
        return None
    wanted = next(iter(golds[0]))
    dates = find_dates(final_answer(answer).text)
    if not dates or any(len(options) != 1 for options in dates):
        return False
    return all(_agrees(wanted, date) for options in dates for date in options)
