"""A parcel service: where each parcel lies now.

Its records exist only here: a task about a parcel can be solved by this domain's function and by
nothing else.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from toolorchestra.domain.names import name_maker

_SEED = "toolorchestra parcels"
_NUM_PARCELS = 300
_NUM_CITIES = 60
_NUMBER = re.compile(r"\bP\d{4}\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Parcel:
    """One parcel under way."""

    number: str
    city: str
    """Where the depot stands that holds it."""


@lru_cache(maxsize=1)
def load_parcels() -> Mapping[str, Parcel]:
    """All parcels by number, e.g. "P4821"; the same in every process."""
    rng = random.Random(_SEED)
    make_name = name_maker(rng)
    cities = [make_name() for _ in range(_NUM_CITIES)]
    numbers = [f"P{number}" for number in rng.sample(range(1000, 10_000), _NUM_PARCELS)]
    return {number: Parcel(number=number, city=rng.choice(cities)) for number in numbers}


def track_parcel(text: str) -> str | None:
    """City of the depot that holds the parcel named in `text`.

    Returns:
        The city, or None where `text` names no known parcel or several of them.
    """
    numbers = {match.upper() for match in _NUMBER.findall(text)}
    if len(numbers) != 1:
        return None
    parcel = load_parcels().get(numbers.pop())
    return parcel.city if parcel else None
