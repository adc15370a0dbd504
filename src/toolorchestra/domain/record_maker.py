"""Records of a domain as they are invented from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from toolorchestra.domain.database import Record


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordMaker:
    """Records by collection, in the order in which they were added."""

    rng: random.Random
    make_name: Callable[[], str]
    records: dict[str, list[Record]] = field(default_factory=dict)

    def add(self, collection: str, **record: object) -> None:
        """Put a new record."""
        self.records.setdefault(collection, []).append(record)

    def person(self) -> dict[str, str]:
        """The name and the e-mail address of somebody new."""
        first, last = self.make_name(), self.make_name()
        return {"name": f"{first} {last}", "email": f"{first}.{last}@example.org".lower()}

    def count(self, collection: str) -> int:
        """How many records a collection has by now."""
        return len(self.records.get(collection, []))

    def draw(self, collection: str, key: str) -> str:
        """The field `key` of one record."""
        return str(self.rng.choice(self.records[collection])[key])

    def draw_some(self, collection: str, key: str, low: int, high: int) -> list[str]:
        """The field `key` of `low` to `high` different records."""
        keys = [str(record[key]) for record in self.records[collection]]
        return self.rng.sample(keys, self.rng.randint(low, high))

    def lines(self) -> Iterator[tuple[str, Record]]:
        """All records, each with its collection."""
        for collection, records in self.records.items():
            yield from ((collection, record) for record in records)
