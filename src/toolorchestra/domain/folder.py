"""A domain's folder, read once: what is loaded and what a digest tells of are the same texts."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolorchestra.domain.fault import BadDomain

Texts = Mapping[str, str]
"""The text of each file by its name, e.g. "policy.md" or "database/loans.jsonl"."""

RECORDS_FOLDER = "database/"
"""What the names of the collections' own files begin with."""

_FILES = (
    "schema.json",
    "database.jsonl",
    "policy.md",
    "functions.py",
    "user_functions.py",
    "tasks.jsonl",
)
_MAX_BYTES = 64 << 20
"""Of one file, and of a folder together."""


def read_texts(folder: Path, *, follows_links: bool) -> dict[str, str]:
    """The texts of the files that a domain may have; others are left alone.

    Args:
        folder: Where they lie.
        follows_links: False refuses symbolic links: in a folder that nobody trusts, one could lead
            to a secret, which the policy would then be shown.

    Raises:
        BadDomain: there is no such folder, or a file is none, too big or no text.
    """
    if not folder.is_dir():
        raise BadDomain(f"{folder.name}: there is no such folder")
    texts: dict[str, str] = {}
    room = _MAX_BYTES
    for name in _names(folder, follows_links=follows_links):
        data = _read(folder, name, room, follows_links=follows_links)
        if data is None:
            continue
        room -= len(data)
        try:
            texts[name] = data.decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise BadDomain(f"{name}: not read: {error}") from error
    return texts


def text_of(texts: Texts, name: str) -> str:
    """The text of one file.

    Raises:
        BadDomain: it is missing.
    """
    if name not in texts:
        raise BadDomain(f"{name}: is missing")
    return texts[name]


def texts_digest(texts: Texts) -> str:
    """SHA-256 of all names and texts, in hexadecimal."""
    return hashlib.sha256(json.dumps(sorted(texts.items())).encode()).hexdigest()


def _names(folder: Path, *, follows_links: bool) -> Iterator[str]:
    many = folder / "database"
    if not many.is_dir():
        yield from _FILES
        return
    if many.is_symlink() and not follows_links:
        raise BadDomain("database: is a symbolic link; use a folder")
    yield from (name for name in _FILES if name != "database.jsonl")
    yield from (RECORDS_FOLDER + path.name for path in sorted(many.iterdir()))


def _read(folder: Path, name: str, room: int, *, follows_links: bool) -> bytes | None:
    """The content; None where there is no such file."""
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if follows_links else os.O_NOFOLLOW)
    try:
        descriptor = os.open(folder / name, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "is a symbolic link" if (folder / name).is_symlink() else f"not read: {error}"
        raise BadDomain(f"{name}: {reason}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadDomain(f"{name}: not read: it is no regular file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(room + 1)
    finally:
        os.close(descriptor)
    if len(data) > room:
        raise BadDomain(f"{name}: is too big: a domain's files may fill {_MAX_BYTES >> 20} MB")
    return data
