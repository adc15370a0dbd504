"""Looking a record up that a call names beside what it is about, and people by their names.

These search instead of looking up by key, so that only the records that a call is about count as
looked up.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.domain.database import Database, Key, Record
from toolorchestra.domain.fault import DomainError


def one(db: Database, collection: str, key: Key) -> Record:
    """The record with this key.

    Raises:
        DomainError: there is no such record.
    """
    found = db.where(collection, **{db.schema.collections[collection].key: key})
    if not found:
        raise DomainError(f"there is no {key!r} in {collection}")
    return found[0]


def by_name(db: Database, collection: str, name: str) -> Record:
    """The person of that full name, in any case of letters.

    Raises:
        DomainError: nobody is called so.
    """
    wanted = name.strip().casefold()
    found = db.where(collection, lambda person: person["name"].casefold() == wanted)
    if not found:
        raise DomainError(f"nobody in {collection} is called {name!r}")
    return found[0]


def by_words(words: Sequence[str], records: Sequence[Record]) -> dict[str, Record]:
    """Those of `records` whose words name one of them alone, by these words and in their order."""
    named = sorted(zip(words, records, strict=True), key=lambda pair: pair[0])
    return {word: one for word, one in named if words.count(word) == 1}
