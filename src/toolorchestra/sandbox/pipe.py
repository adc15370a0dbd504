"""Pipes read within a bound: what exceeds it is counted and thrown away, never held in memory.

asyncio's own streams stop reading at their limit, which would block a program that prints much.
These read on, and a drain at a known moment returns all that was written before it.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque

_CHUNK_BYTES = 1 << 16
_MAX_DRAIN_READS = 64
_MAX_WAITING_LINES = 64
_MAX_LINE_BYTES = 8192


class CappedPipe:
    """The read end of a pipe that keeps the first `max_bytes` since the last `take`."""

    def __init__(self, *, max_bytes: int) -> None:
        """Open the pipe; needs a running event loop."""
        self._max_bytes = max_bytes
        self._kept = bytearray()
        self._num_dropped = 0
        self._read_fd, self.write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._read_fd, self._read_some)

    def close_write_end(self) -> None:
        """Drop this process's write end once the other process has its own."""
        if self.write_fd >= 0:
            os.close(self.write_fd)
            self.write_fd = -1

    def drain(self) -> None:
        """Read what is already in the pipe."""
        for _ in range(_MAX_DRAIN_READS):
            if not self._read_some():
                return

    def take(self) -> tuple[bytes, int]:
        """What was kept, and how many further bytes were thrown away; both start afresh."""
        kept, num_dropped = bytes(self._kept), self._num_dropped
        self._kept.clear()
        self._num_dropped = 0
        return kept, num_dropped

    def close(self) -> None:
        """Close both ends."""
        self.close_write_end()
        if self._read_fd >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._read_fd)
            os.close(self._read_fd)
            self._read_fd = -1

    def receive(self, data: bytes) -> None:
        """Keep what fits of the data."""
        room = self._max_bytes - len(self._kept)
        self._kept += data[:room]
        self._num_dropped += max(0, len(data) - room)

    def _read_some(self) -> bool:
        if self._read_fd < 0:
            return False
        try:
            data = os.read(self._read_fd, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._read_fd)
            return False
        self.receive(data)
        return True


class RequestPipe:
    """The write end of a pipe, for what the other process reads on its standard input."""

    def __init__(self) -> None:
        """Open the pipe; needs a running event loop."""
        self.read_fd, self._write_fd = os.pipe()
        os.set_blocking(self._write_fd, False)
        self._loop = asyncio.get_running_loop()

    async def send(self, data: bytes) -> None:
        """Write all of it, as fast as it is read; nothing where nobody reads any more."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._write_fd, rest) :]
            except BrokenPipeError:
                return
            except BlockingIOError:
                await self._has_room()

    def close_read_end(self) -> None:
        """Drop this process's read end once the other process has its own."""
        if self.read_fd >= 0:
            os.close(self.read_fd)
            self.read_fd = -1

    def close(self) -> None:
        """Close both ends: the other process reads to an end."""
        self.close_read_end()
        if self._write_fd >= 0:
            os.close(self._write_fd)
            self._write_fd = -1

    async def _has_room(self) -> None:
        room = asyncio.Event()
        self._loop.add_writer(self._write_fd, room.set)
        try:
            await room.wait()
        finally:
            self._loop.remove_writer(self._write_fd)


class LinePipe(CappedPipe):
    """A pipe of short text lines, handed out one by one."""

    def __init__(self) -> None:
        """Open the pipe; needs a running event loop."""
        super().__init__(max_bytes=_MAX_LINE_BYTES)
        self._lines: deque[str] = deque()
        self._has_line = asyncio.Event()

    async def wait(self) -> None:
        """Wait until a line has come: who gives up in the middle has taken none."""
        await self._has_line.wait()

    def waiting_line(self) -> str | None:
        """Take a line that has come already, without its end, or None."""
        self.drain()
        line = self._lines.popleft() if self._lines else None
        if not self._lines:
            self._has_line.clear()
        return line

    def receive(self, data: bytes) -> None:
        """Cut the data into lines; the rest of a long line, and floods of lines, are dropped."""
        *complete, rest = (bytes(self._kept) + data).split(b"\n")
        for line in complete:
            if len(self._lines) < _MAX_WAITING_LINES:
                self._lines.append(line[:_MAX_LINE_BYTES].decode("utf-8", "replace"))
                self._has_line.set()
        self._kept = bytearray(rest[:_MAX_LINE_BYTES])
