"""Keeps what a pass over a table found, beside the cache of `datasets`: of 430,000 rows it is slow.

A scan is found again by what it depends on: the table's files with their sizes and times, its
columns, the options of the scan, and the very code that decides which rows are kept.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from toolorchestra.dataset import answer_form, split, table_scan
from toolorchestra.dataset.table_scan import Scan, scan_table

if TYPE_CHECKING:
    import datasets

log = logging.getLogger(__name__)

FOLDER = "toolorchestra_scans"
"""Within the library's cache of data sets."""
_DAMAGED = (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile)


def kept_scan(table: datasets.Dataset, *, takes_free_text: bool, num_parts: int) -> Scan:
    """What `scan_table` finds, read from disk where it was found before.

    A file that is damaged, as it was not written to its end, counts as none. Where nothing can be
    written, the next run scans again.
    """
    key = _key(table, takes_free_text=takes_free_text, num_parts=num_parts)
    path = None if key is None else _folder() / f"{key}.npz"
    found = _read(path) if path is not None else None
    if found is None:
        found = scan_table(table, takes_free_text=takes_free_text, num_parts=num_parts)
        if path is not None:
            _write(path, found)
    return found


def _folder() -> Path:
    import datasets

    return Path(datasets.config.HF_DATASETS_CACHE) / FOLDER


def _key(table: datasets.Dataset, **options: bool | int) -> str | None:
    """What tells a scan from all others; None of a table in memory, which has no files."""
    files = [Path(file["filename"]) for file in table.cache_files]
    if not files:
        return None
    stats = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    # rows may be a part of the files', in an order of their own: the library's mark knows of both
    told = [stats, len(table), table.column_names, table._fingerprint, options, _code()]
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


@cache
def _code() -> str:
    """A mark of the rules of the scan: another version of them never finds this one's rows."""
    modules = (answer_form, split, table_scan)
    texts = b"".join(Path(str(module.__file__)).read_bytes() for module in modules)
    return hashlib.blake2b(texts, digest_size=16).hexdigest()


def _read(path: Path) -> Scan | None:
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = Scan(
                rows=arrays["rows"],
                digests=arrays["digests"],
                is_heldout=arrays["is_heldout"],
                left_out=json.loads(str(arrays["left_out"])),
            )
        if not len(found.rows) == len(found.digests) == len(found.is_heldout):
            raise ValueError("columns of different lengths")
    except _DAMAGED as error:
        log.info("%s is damaged (%s): the table is scanned again", path, error)
        return None
    return found


def _write(path: Path, scan: Scan) -> None:
    """Writes beside `path` and renames, so that no other process ever reads half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, beside = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                np.savez(
                    file,
                    rows=scan.rows,
                    digests=scan.digests,
                    is_heldout=scan.is_heldout,
                    left_out=np.array(json.dumps(dict(scan.left_out))),
                )
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        finally:
            Path(beside).unlink(missing_ok=True)
    except OSError as error:
        log.info("%s cannot be written (%s): the next run scans the table again", path, error)
