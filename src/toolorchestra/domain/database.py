"""A domain's records, as plain JSON, and the record of which of them were looked at or written.

Records that lie in a database are never changed in place: readers get copies and writers put new
ones. So a copy for an episode, or for one call that may fail, shares them and costs little.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.schema import Schema

Key = str
Record = dict[str, Any]
Place = tuple[str, Key]
"""A record: its collection and its key."""


class Database:
    """Records by collection and key.

    `written`, `read` and `seen` hold the places that were written, looked up by their key, and
    found by a search since the database was made; a copy goes on counting.
    """

    def __init__(self, schema: Schema, records: Mapping[str, Mapping[Key, Record]]) -> None:
        self.schema = schema
        self._records = {name: dict(records.get(name, {})) for name in schema.collections}
        self.written: set[Place] = set()
        self.read: set[Place] = set()
        self.seen: set[Place] = set()

    def copy(self) -> Database:
        """A database of its own with the same records and the same counts."""
        other = self.fresh()
        other.written, other.read, other.seen = set(self.written), set(self.read), set(self.seen)
        return other

    def fresh(self) -> Database:
        """A database of its own with the same records, in which nothing was touched yet."""
        return Database(self.schema, self._records)

    @property
    def records(self) -> Mapping[str, Mapping[Key, Record]]:
        """All records, to be read only: for comparing and writing down, not for functions."""
        return self._records

    def has(self, collection: str, key: Key) -> bool:
        """Whether there is such a record; asking leaves no trace."""
        return key in self._records[collection]

    def get(self, collection: str, key: Key) -> Record:
        """A copy of one record.

        Raises:
            DomainError: there is no such record.
        """
        record = self._find(collection, key)
        self.read.add((collection, key))
        return copy.deepcopy(record)

    def count(self, collection: str) -> int:
        """How many records a collection has; asking leaves no trace."""
        return len(self._records[collection])

    def where(
        self,
        collection: str,
        matching: Callable[[Record], bool] | None = None,
        /,
        **conditions: Any,
    ) -> list[Record]:
        """Copies of the records that are found, by key.

        Args:
            collection: Where to search.
            matching: Says of a record, which it must leave as it is, whether to give it.
            **conditions: Values that its fields must equal.
        """
        found = [
            (key, record)
            for key, record in self._records[collection].items()
            if all(record.get(name) == value for name, value in conditions.items())
            and (matching is None or matching(record))
        ]
        self.seen.update((collection, key) for key, _ in found)
        return [copy.deepcopy(record) for _, record in sorted(found, key=lambda pair: pair[0])]

    def add(self, collection: str, record: Record) -> None:
        """Put a new record.

        Raises:
            DomainError: its key is taken.
        """
        key = record[self.schema.collections[collection].key]
        if key in self._records[collection]:
            raise DomainError(f"{collection} {key} exists already")
        self._put(collection, key, copy.deepcopy(record))

    def update(self, collection: str, key: Key, /, **changes: Any) -> None:
        """Set fields of one record.

        Raises:
            DomainError: there is no such record.
        """
        record = self._find(collection, key)
        self._put(collection, key, {**record, **copy.deepcopy(changes)})

    def remove(self, collection: str, key: Key) -> None:
        """Take one record out.

        Raises:
            DomainError: there is no such record.
        """
        self._find(collection, key)
        del self._records[collection][key]
        self.written.add((collection, key))

    def take_over(
        self,
        changes: Mapping[Place, Record | None],
        *,
        read: Iterable[Place] = (),
        seen: Iterable[Place] = (),
    ) -> None:
        """Do what was done to a copy elsewhere.

        Args:
            changes: The new records, which are not copied; None where one was taken out.
            read: What was looked up by its key.
            seen: What was found by a search.
        """
        for (collection, key), record in changes.items():
            if record is None:
                self._records[collection].pop(key, None)
            else:
                self._records[collection][key] = record
        self.written.update(changes)
        self.read.update(read)
        self.seen.update(seen)

    def _find(self, collection: str, key: Key) -> Record:
        if key not in self._records[collection]:
            raise DomainError(f"there is no {key!r} in {collection}")
        return self._records[collection][key]

    def _put(self, collection: str, key: Key, record: Record) -> None:
        self._records[collection][key] = record
        self.written.add((collection, key))
