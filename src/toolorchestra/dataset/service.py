"""Questions that only a domain's records answer."""

from __future__ import annotations

import random

from toolorchestra.dataset.family import Draft, Family
from toolorchestra.domain.parcels import load_parcels

_WORDINGS = (
    "Where is parcel {number} now?",
    "In which city does parcel {number} lie?",
    "A customer asks for parcel {number}: where is it?",
)


def draw_parcel(rng: random.Random) -> Draft:
    """Asks for the city of a random parcel."""
    parcel = rng.choice(list(load_parcels().values()))
    return Draft(
        question=rng.choice(_WORDINGS).format(number=parcel.number),
        answer=parcel.city,
        answer_kind="text",
        key=parcel.number,
        metadata={"family": "parcel"},
    )


SERVICE_FAMILIES: dict[str, Family] = {"parcel": draw_parcel}
