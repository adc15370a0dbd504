"""Times of the day, as the clinic writes them: "09:30", on the half hour."""

from __future__ import annotations

import datetime
import re

STEP_MINUTES = 30
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


def is_time(text: str) -> bool:
    """Whether `text` is a time at which an appointment may begin."""
    return _TIME.fullmatch(text) is not None and minutes_of(text) % STEP_MINUTES == 0


def minutes_of(text: str) -> int:
    """Minutes from midnight until the time `text`."""
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def time_of(minutes: int) -> str:
    """The time that comes `minutes` after midnight."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def moment_of(day: str, time: str) -> datetime.datetime:
    """The moment that a day and a time of it spell."""
    return datetime.datetime.fromisoformat(f"{day}T{time}")
