"""The files that a task brings: checked, read, and ready to be put before a program.

A task names them in its metadata under "files": `{"data/a.csv": "x,y", "b.csv": {"path":
"tables/b.csv"}}`. A text stands for itself; a path is relative to `files_root`, and may not lead
out of it: tasks often come from elsewhere, and programs tell what they read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from toolorchestra.sandbox.config import SandboxConfig

_MAX_NAME_CHARS = 200
_MAX_PARTS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class InputFile:
    """A file as a program finds it."""

    name: str
    """Relative to the folder where programs start, folders divided by slashes."""
    data: bytes = field(repr=False)
    sha256: str


def read_input_files(told: object, config: SandboxConfig) -> tuple[InputFile, ...]:
    """Read the files of a task.

    Args:
        told: What the task's metadata hold under "files".
        config: Where paths start from, how many and how big the files may be.

    Raises:
        ValueError: A name, a path or a size is not allowed, or a file cannot be read.
    """
    if not isinstance(told, Mapping):
        raise _refusal("", told, "a mapping of names to texts or paths")
    if len(told) > config.max_files:
        raise _refusal("", f"{len(told)} files", f"at most sandbox.max_files={config.max_files}")
    for name in told:
        _check_name(name)
    _check_folders(set(told))
    files = []
    room = (config.work_mb << 20) // 2  # The other half is the program's.
    for name, source in sorted(told.items()):
        data = _read(name, source, config.files_root, room)
        room -= len(data)
        files.append(InputFile(name=name, data=data, sha256=hashlib.sha256(data).hexdigest()))
    return tuple(files)


def _check_name(name: object) -> None:
    parts = name.split("/") if isinstance(name, str) else []
    is_allowed = (
        isinstance(name, str)
        and name.isprintable()
        and len(name.encode()) <= _MAX_NAME_CHARS
        and len(parts) <= _MAX_PARTS
        and not {"", ".", ".."} & set(parts)
    )
    if not is_allowed:
        raise _refusal("", name, "relative names without '..', of printable characters")


def _check_folders(names: set[str]) -> None:
    for name in names:
        parts = name.split("/")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in names:
                raise _refusal("", name, "names of which none is the folder of another")


def _read(name: str, source: object, root: str, max_bytes: int) -> bytes:
    if isinstance(source, Mapping) and set(source) == {"text"}:
        source = source["text"]
    if isinstance(source, str):
        data = source.encode("utf-8", "surrogatepass")
    elif isinstance(source, Mapping) and set(source) == {"path"}:
        data = _read_path(name, source["path"], root, max_bytes)
    else:
        raise _refusal(name, source, "a text, {text: …} or {path: …}")
    if len(data) > max_bytes:
        raise _refusal(name, f"{len(data)} bytes", "files that fill half of sandbox.work_mb")
    return data


def _read_path(name: str, path: object, root: str, max_bytes: int) -> bytes:
    if not root:
        raise _refusal(name, path, "texts only, or set sandbox.files_root")
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path)) if isinstance(path, str) else ""
    if not real.startswith(top.rstrip("/") + "/"):
        raise _refusal(name, path, f"a path within {root}")
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        raise _refusal(name, path, f"a file that can be read ({error.strerror})") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _refusal(name, path, "a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes + 1)
    finally:
        os.close(descriptor)


def _refusal(name: str, value: object, allowed: str) -> ValueError:
    key = f"task.metadata.files[{name!r}]" if name else "task.metadata.files"
    return ValueError(f"{key}: {str(value)[:200]!r} is not allowed; use {allowed}")
