"""Shipments that a task may ask for, and the words for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script

_CONTENTS = ("clothes", "books", "electronics", "tools")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shipment:
    """What is to be sent, and how."""

    contents: str
    service: str
    cover: str

    @property
    def words(self) -> str:
        """e.g. "books by economy, not insured"."""
        insured = f"insured for {self.cover}" if self.cover != "0.00" else "not insured"
        return f"{self.contents} by {self.service}, {insured}"

    def book(self, script: Script, contact: Record, grams: int) -> Any:
        """Do the golden booking; gives the parcel."""
        return script.do(
            "book_shipment",
            customer_id=contact["customer"],
            contact_id=contact["contact_id"],
            service_id=self.service,
            grams=grams,
            contents=self.contents,
            cover=self.cover,
        )


def draw_shipment(script: Script) -> Shipment:
    """Something that every service takes."""
    return Shipment(
        contents=script.rng.choice(_CONTENTS),
        service=script.rng.choice(("economy", "standard", "express")),
        cover=script.rng.choice(("0.00", "0.00", "90.00", "220.00", "330.00")),
    )
