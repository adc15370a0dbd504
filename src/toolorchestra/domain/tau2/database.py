"""The records of a domain, read once and shared by all environments until somebody touches them.

tau2-bench reads 7 MB anew for every environment and takes the digest of all of it. Here an
environment has a copy of a record once it asks for it, and its digest is of what differs. Two
databases that began alike have the same digest where tau2-bench's would be the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from copy import deepcopy
from typing import Any, TypeVar, cast

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)

_ATOMS = (str, int, float, bool, type(None))


class Records(dict[Any, Any]):
    """Records by key: whatever is taken out is a copy of the shared one, made at that moment.

    Underneath lie the shared ones, where pydantic reads them to write them down.
    """

    def __init__(self, shared: Mapping[Any, Any]) -> None:
        super().__init__(shared)
        self.shared = shared

    def __getitem__(self, key: Any) -> Any:
        record = super().__getitem__(key)
        if record is self.shared.get(key):
            record = own(record)
            super().__setitem__(key, record)
        return record

    def get(self, key: Any, default: Any = None) -> Any:
        """The record, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - it would call itself

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The record, which is `default` from now on where there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: Any, *default: Any) -> Any:
        """The record, which is no longer there, or `default`."""
        if key in self:
            self[key]  # noqa: B018 - makes it its own
        return super().pop(key, *default)

    def popitem(self) -> tuple[Any, Any]:
        """The last key with its record, which is no longer there."""
        key = next(reversed(self))
        return key, self.pop(key)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """All records."""
        return ValuesView(self)

    def items(self) -> ItemsView[Any, Any]:  # type: ignore[override]
        """All keys with their records."""
        return ItemsView(self)

    def copy(self) -> dict[Any, Any]:
        """A plain dictionary of all records."""
        return dict(self.items())

    def __or__(self, other: Any) -> dict[Any, Any]:
        return {**self.copy(), **other}

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[Any, Any]:
        return {key: deepcopy(value, memo) for key, value in super().items()}


def own(value: Any) -> Any:
    """A copy of a shared value to be changed at will; records within it are copied when touched."""
    if type(value) in _ATOMS:
        return value
    if isinstance(value, BaseModel):
        return own_model(value)
    if type(value) is list:
        return [own(item) for item in value]
    return Records(value) if type(value) is dict else deepcopy(value)


def own_model(model: M) -> M:
    """The same of a record, or of a whole database."""
    copied = model.model_copy()
    vars(copied).update({name: own(value) for name, value in vars(model).items()})
    return copied


def digest(model: BaseModel, shared: BaseModel) -> str:
    """Names what a database holds: equal for two copies of `shared` that would be written alike.

    Args:
        model: What `own_model` made of `shared`, or any other database of its class.
        shared: Unchanged.
    """
    told = {name: _told(value, getattr(shared, name)) for name, value in vars(model).items()}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _told(value: Any, shared: Any) -> Any:
    """The records that differ, and which are gone; of what has no records, all."""
    if not isinstance(shared, dict):
        return _text(value)
    pairs = dict(_pairs(value))
    changed = {}
    for key, record in pairs.items():
        first = shared.get(key)
        if key not in shared or not (_is_untouched(record, first) or _text(record) == _text(first)):
            changed[str(key)] = _text(record)
    return {"changed": changed, "gone": sorted(str(key) for key in shared if key not in pairs)}


def _pairs(records: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Keys and records as they lie there, which makes no copies."""
    return iter(dict.items(cast(dict[Any, Any], records)))


def _is_untouched(value: Any, shared: Any) -> bool:
    """Whether nobody can have changed it; False says nothing."""
    if value is shared:
        return True
    if isinstance(value, Records):
        return (
            value.shared is shared
            and value.keys() == shared.keys()
            and all(_is_untouched(record, shared[key]) for key, record in _pairs(value))
        )
    if type(value) is not type(shared):
        return False
    if isinstance(value, list):
        return len(value) == len(shared) and all(map(_is_untouched, value, shared))
    if not isinstance(value, BaseModel):
        return False
    return all(_is_untouched(part, getattr(shared, name)) for name, part in vars(value).items())


def _text(value: Any) -> str:
    """As tau2-bench writes it down to take the digest: 1, 1.0 and true differ."""
    return json.dumps(_plain(value), sort_keys=True, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, dict):
        return {key: _plain(record) for key, record in _pairs(value)}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
