"""The folder where a program starts, reached from outside: files are put in and listed.

The host holds an open descriptor of it, which outlives the sandbox: once its processes have ended,
nothing can change any more while the host looks. Where an interpreter lives on, its threads may
change everything meanwhile; every step therefore opens one name in an open folder, follows no link
and opens no device, and reads no more than a bound.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Iterator

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.result import SandboxError
from toolorchestra.sandbox.written import WrittenFile, WrittenFiles

_MAX_LOOKED_AT = 10_000
_MAX_DEPTH = 16
_CHUNK_BYTES = 1 << 20
"""As much as the largest text that is kept, so that a text comes in one piece."""
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_KINDS = {
    stat.S_IFLNK: "symbolic link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
    stat.S_IFDIR: "folder",
}


class WorkFolder:
    """An open folder of one sandbox; methods may be called from any thread."""

    def __init__(self, path: str, config: SandboxConfig) -> None:
        """Open it.

        Raises:
            OSError: If it is not there or may not be entered.
        """
        self._config = config
        self._known: dict[str, str] = {}
        """SHA-256 of what was put in or listed before, by name."""
        self._lock = threading.Lock()
        self._fd = os.open(path, _FOLDER_FLAGS)

    def place(self, files: tuple[InputFile, ...]) -> None:
        """Write a read-only copy of each file.

        Raises:
            SandboxError: If one cannot be written.
        """
        with self._lock:
            try:
                for file in files:
                    self._place(file)
                    self._known[file.name] = file.sha256
            except OSError as error:
                raise SandboxError(f"a task's file cannot be put in: {error}") from None

    def written(self) -> WrittenFiles:
        """What is new or changed since the last time, files that were put in left out."""
        with self._lock:
            if self._fd < 0:
                return WrittenFiles()
            entries = sorted(_walk(self._fd, "", 0, [_MAX_LOOKED_AT]))
            files: list[WrittenFile] = []
            refused: list[tuple[str, str]] = []
            num_more, room = 0, 2 * self._config.work_mb << 20
            for name, kind in entries:
                if len(files) + len(refused) >= self._config.max_files:
                    num_more += name not in self._known
                elif kind:
                    refused.append((_shown(name), kind))
                elif file := self._read(name, room):
                    room -= file.num_bytes
                    if file.sha256 != self._known.get(name) or not file.sha256:
                        files.append(file)
                    self._known[name] = file.sha256
            return WrittenFiles(files=tuple(files), refused=tuple(refused), num_more=num_more)

    def close(self) -> None:
        """Let go of it; what lay there is gone with the sandbox."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _place(self, file: InputFile) -> None:
        *folders, last = file.name.split("/")
        folder = os.dup(self._fd)
        try:
            for name in folders:
                try:
                    os.mkdir(name, dir_fd=folder)
                    os.chmod(name, 0o1777, dir_fd=folder)
                except FileExistsError:
                    pass
                folder = _enter(folder, name)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(last, flags, 0o444, dir_fd=folder), "wb") as placed:
                os.fchmod(placed.fileno(), 0o444)
                placed.write(file.data)
        finally:
            os.close(folder)

    def _read(self, name: str, room: int) -> WrittenFile | None:
        """A file's description, or None where it has vanished or turned into something else."""
        *folders, last = name.split("/")
        folder, descriptor = os.dup(self._fd), -1
        try:
            for part in folders:
                folder = _enter(folder, part)
            descriptor = os.open(last, _FILE_FLAGS, dir_fd=folder)
            return self._describe(name, descriptor, room)
        except OSError:
            return None
        finally:
            os.close(folder)
            if descriptor >= 0:
                os.close(descriptor)

    def _describe(self, name: str, descriptor: int, room: int) -> WrittenFile | None:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return None
        if found.st_size > room:
            return WrittenFile(name=_shown(name), num_bytes=found.st_size, sha256="")
        digest, start, num_bytes = hashlib.sha256(), b"", 0
        while num_bytes < found.st_size and (chunk := os.read(descriptor, _CHUNK_BYTES)):
            digest.update(chunk)
            start = start or chunk
            num_bytes += len(chunk)
        return WrittenFile(
            name=_shown(name),
            num_bytes=num_bytes,
            sha256=digest.hexdigest(),
            text=_text(start) if num_bytes <= self._config.max_text_bytes else None,
        )


def _walk(folder: int, prefix: str, depth: int, num_left: list[int]) -> Iterator[tuple[str, str]]:
    """Name and kind of all entries, the kind empty for regular files."""
    try:
        names = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if num_left[0] <= 0:
                    break
                num_left[0] -= 1
                names.append(entry.name)
    except OSError:
        return
    for name in names:
        try:
            kind = stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            if kind == stat.S_IFDIR and depth < _MAX_DEPTH:
                inner = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
                try:
                    yield from _walk(inner, f"{prefix}{name}/", depth + 1, num_left)
                finally:
                    os.close(inner)
            else:
                yield prefix + name, "" if kind == stat.S_IFREG else _KINDS.get(kind, "unknown")
        except OSError:  # It has vanished meanwhile.
            continue


def _enter(folder: int, name: str) -> int:
    """Open a folder in a folder, which is closed."""
    inner = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
    os.close(folder)
    return inner


def _shown(name: str) -> str:
    return name if name.isprintable() else ascii(name)[1:-1]


def _text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
