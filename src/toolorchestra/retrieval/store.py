"""Passages on disk: an Arrow file that is mapped into memory, and a table from ids to rows.

A corpus of millions of passages takes no memory of its own: what is read lies in the system's
cache, and goes when memory is short.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from toolorchestra.retrieval.record import Passage

PASSAGES, KEYS = "passages.arrow", "keys.npy"
BATCH_ROWS = 1024
_COLUMNS = ("id", "document", "title", "text")
_SCHEMA = pa.schema([(name, pa.string()) for name in _COLUMNS])
_KEY = np.dtype([("key", "<u8"), ("row", "<i8")])


def key_of(document: str) -> int:
    """Eight bytes that stand for a document's id."""
    return int.from_bytes(hashlib.blake2b(document.encode(), digest_size=8).digest(), "little")


class PassageWriter:
    """Writes passages, in order, into a folder; complete once the block has ended well."""

    def __init__(self, folder: Path) -> None:
        """Begins the file."""
        self._folder = folder
        self._writer = pa.ipc.new_file(str(folder / PASSAGES), _SCHEMA)
        self._pending: list[Passage] = []
        self._keys: list[int] = []
        self._sha256 = hashlib.sha256()

    def __enter__(self) -> PassageWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._flush()
        self._writer.close()
        keys = np.empty(len(self._keys), dtype=_KEY)
        keys["key"], keys["row"] = np.array(self._keys, dtype="<u8"), np.arange(len(self._keys))
        np.save(self._folder / KEYS, np.sort(keys, order=("key", "row")))

    def add(self, passage: Passage) -> None:
        """Appends one."""
        self._pending.append(passage)
        self._keys.append(key_of(passage.document))
        told = [passage.id, passage.title, passage.text]
        self._sha256.update(json.dumps(told).encode() + b"\n")
        if len(self._pending) == BATCH_ROWS:
            self._flush()

    @property
    def num_passages(self) -> int:
        """How many were added."""
        return len(self._keys)

    @property
    def sha256(self) -> str:
        """Of all ids, titles and texts so far, in order."""
        return self._sha256.hexdigest()

    def _flush(self) -> None:
        if self._pending:
            columns = [[getattr(item, name) for item in self._pending] for name in _COLUMNS]
            arrays = [pa.array(column, pa.string()) for column in columns]
            self._writer.write_batch(pa.record_batch(arrays, schema=_SCHEMA))
            self._pending = []


class PassageStore:
    """Reads what `PassageWriter` wrote."""

    def __init__(self, folder: Path) -> None:
        """Maps the files.

        Raises:
            ValueError: They are damaged.
            OSError: They cannot be read.
        """
        try:
            self._reader = pa.ipc.open_file(pa.memory_map(str(folder / PASSAGES)))
            self._keys = np.load(folder / KEYS, mmap_mode="r")
        except (pa.ArrowInvalid, ValueError) as error:
            raise ValueError(f"{folder}: the passages are damaged ({error})") from error

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, row: int) -> Passage:
        """The passage of a row, from 0."""
        batch = self._reader.get_batch(row // BATCH_ROWS)
        at = row % BATCH_ROWS
        return Passage(**{name: batch.column(name)[at].as_py() for name in _COLUMNS})

    def encoded_texts(self) -> Iterator[str]:
        """What the encoder reads of each passage, in order."""
        for number in range(self._reader.num_record_batches):
            batch = self._reader.get_batch(number)
            columns = (batch.column(name).to_pylist() for name in _COLUMNS)
            for fields in zip(*columns, strict=True):
                yield Passage(**dict(zip(_COLUMNS, fields, strict=True))).encoded

    def rows_of(self, documents: Sequence[str]) -> npt.NDArray[np.int64]:
        """Rows of all passages of these documents, ascending; ids that are not known add none."""
        keys = self._keys["key"]
        wanted = np.array(sorted({key_of(document) for document in documents}), dtype="<u8")
        begins, ends = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
        found = [self._keys["row"][b:e] for b, e in zip(begins, ends, strict=True)]
        rows = np.sort(np.concatenate(found)) if found else np.empty(0)
        return rows.astype(np.int64)
