"""Keys for the records that a domain's functions make."""

from __future__ import annotations

from toolorchestra.domain.database import Database, Key


def new_key(db: Database, collection: str, letter: str) -> Key:
    """A key that no record of the collection has, e.g. "L38"; declare such a key volatile."""
    number = db.count(collection) + 1
    while db.has(collection, f"{letter}{number}"):
        number += 1
    return f"{letter}{number}"
