"""Looking for free slots, as whoever does a task has to."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolorchestra.domain.script import Script


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """A free time of a day, and the room that the rules take for it."""

    day: str
    start: str
    room_id: str

    @property
    def arguments(self) -> dict[str, str]:
        """As functions take it."""
        return {"day": self.day, "start": self.start, "room_id": self.room_id}


def slots_of(script: Script, who: Mapping[str, str], day: datetime.date | str) -> list[Slot]:
    """The free slots of a day; nothing is done.

    Args:
        script: The task in the making.
        who: The arguments `patient_id`, `doctor_id` and `service_id`.
        day: The day.
    """
    found = script.would_give("find_slots", **who, day=str(day))
    return [Slot(day=str(day), start=one["start"], room_id=one["rooms"][0]) for one in found]


def first_slot(
    script: Script,
    who: Mapping[str, str],
    days: Iterable[datetime.date | str],
    *,
    since: str = "00:00",
    before: str = "24:00",
) -> Slot | None:
    """Do the golden search for the earliest slot that begins within a part of the day.

    Args:
        script: The task in the making.
        who: The arguments `patient_id`, `doctor_id` and `service_id`.
        days: The days, the first one first.
        since: The earliest time.
        before: A time that is too late.
    """
    for day in days:
        fitting = [one for one in slots_of(script, who, day) if since <= one.start < before]
        script.do("find_slots", **who, day=str(day))
        if fitting:
            return fitting[0]
    return None
