"""Some of a domain's records, with all that they refer to: what a task can be about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import partial

from toolorchestra.domain.database import Database, Place
from toolorchestra.domain.value import references


def excerpt(database: Database, *, seed: str, num_records: int) -> str:
    """JSON lines of up to so many records of each collection, and of what they refer to.

    Args:
        database: The records.
        seed: Says which are taken: each text takes others.
        num_records: Of each collection.
    """
    chosen = dict[Place, None]()
    for name, known in database.records.items():
        ranked = sorted(known, key=partial(_rank, seed, name))
        _add(database, chosen, ((name, key) for key in ranked[:num_records]))
    lines = [
        json.dumps({name: database.records[name][key]}, ensure_ascii=False)
        for name, key in sorted(chosen)
    ]
    return "\n".join(lines)


def _rank(seed: str, name: str, key: str) -> str:
    return hashlib.sha256(f"{seed}/{name}/{key}".encode()).hexdigest()


def _add(database: Database, chosen: dict[Place, None], places: Iterable[Place]) -> None:
    waiting = list(places)
    while waiting:
        name, key = waiting.pop()
        if (name, key) in chosen:
            continue
        chosen[name, key] = None
        record = database.records[name][key]
        for field_name, field in database.schema.collections[name].fields.items():
            waiting += [
                (target, wanted)
                for _, target, wanted in references(field, record.get(field_name), "")
            ]
