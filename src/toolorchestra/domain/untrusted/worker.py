"""A sandboxed process that calls a domain's functions, seen from out here.

It is asked and waited for without an event loop: domains are replayed and verified by plain
functions. Whoever has a loop asks from a thread.
"""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from toolorchestra.sandbox.command import environment, request, run_command
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.launch import Launch
from toolorchestra.sandbox.seccomp import filter_file
from toolorchestra.sandbox.user_limit import process_limit

_PROGRAM = Path(__file__).with_name("inside.py").read_text(encoding="utf-8")
_BEGIN = """
import os, sys
os.set_inheritable({channel}, True)
os.environ["PYTHONHASHSEED"] = "0"
os.execv(sys.executable, [sys.executable, "-s", "-S", "-B", "-X", "utf8", "-c", {program!r}])
"""
"""Becomes an interpreter in which sets have one order, so that a call repeats exactly."""
_START_LIMIT_S = 60.0
_GRACE_S = 10.0
"""What a worker may take beyond the time limit of a call, which it keeps itself."""
_END_LIMIT_S = 10.0
_HEADER_BYTES = 5


class WorkerError(Exception):
    """A call came to nothing; the message says what "it", the function, did."""


@dataclass(kw_only=True, slots=True)
class _Held:
    """What has to be ended and closed."""

    owner_pid: int
    channel: socket.socket
    process: subprocess.Popen[bytes] | None = None
    init_fd: int = -1
    """The first process of the sandbox's process namespace: with it, all others end."""
    status_fd: int = -1
    """Where the runner inside says how far it is: it takes a closed one ill."""


class Worker:
    """One sandboxed process, alive until `end` or until nobody holds it any more."""

    def __init__(self, launch: Launch, limits: SandboxConfig, first_message: bytes) -> None:
        """Start the process and wait until it can be asked.

        Args:
            launch: How programs are started here.
            limits: Of the sandbox, and of each call.
            first_message: What the program inside has to know.

        Raises:
            WorkerError: It does not come up.
        """
        self._limits = limits
        ours, theirs = socket.socketpair()
        self._held = _Held(owner_pid=os.getpid(), channel=ours)
        self.end = weakref.finalize(self, _end, self._held)
        end_s = time.monotonic() + _START_LIMIT_S
        try:
            with theirs:
                _start(self._held, launch, limits, theirs.fileno(), end_s)
            self._send(first_message, end_s)
            self._receive(end_s)
        except (OSError, WorkerError) as error:
            reason = _last_words(self._held) or str(error)
            self.end()
            raise WorkerError(f"got no sandbox: {reason}") from None

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        process = self._held.process
        return self.end.alive and process is not None and process.poll() is None

    def ask(self, message: bytes) -> bytes:
        """What the code inside answers, which may be anything.

        Raises:
            WorkerError: Nothing, or not in time, or too much. The worker may have ended then.
        """
        end_s = time.monotonic() + self._limits.timeout_s + _GRACE_S
        try:
            self._send(message, end_s)
            kind, content = self._receive(end_s)
        except BaseException:  # Ctrl-C too: else the next call would be given this one's answer
            self.end()
            raise
        if kind == b"x":
            self.end()
        if kind != b"r":
            raise WorkerError(content.decode("utf-8", "replace"))
        return content

    def _send(self, content: bytes, end_s: float) -> None:
        header = b"q" + len(content).to_bytes(_HEADER_BYTES - 1, "big")
        try:
            self._held.channel.settimeout(max(0.001, end_s - time.monotonic()))
            self._held.channel.sendall(header + content)
        except OSError:
            raise WorkerError("it made the sandbox deaf, or ended it") from None

    def _receive(self, end_s: float) -> tuple[bytes, bytes]:
        header = self._receive_exactly(_HEADER_BYTES, end_s)
        num_bytes = int.from_bytes(header[1:], "big")
        if num_bytes > self._limits.max_output_bytes:
            raise WorkerError(f"it gave more than {self._limits.max_output_bytes} bytes")
        return header[:1], self._receive_exactly(num_bytes, end_s)

    def _receive_exactly(self, num_bytes: int, end_s: float) -> bytes:
        data = bytearray()
        while len(data) < num_bytes:
            try:
                self._held.channel.settimeout(max(0.001, end_s - time.monotonic()))
                some = self._held.channel.recv(num_bytes - len(data))
            except TimeoutError:
                raise WorkerError("it stopped the sandbox") from None
            except OSError:
                some = b""
            if not some:
                raise WorkerError("it ended the sandbox")
            data += some
        return bytes(data)


def _start(
    held: _Held, launch: Launch, limits: SandboxConfig, channel_fd: int, end_s: float
) -> None:
    """Start the process, wait until it is confined, and hand it the program."""
    # A folder that can be written would carry something from one call to the next.
    launch = replace(launch, can_size_tmpfs=False)
    limits = replace(limits, is_stateful=True)
    held.status_fd, status_write = os.pipe()
    info_read, info_write = os.pipe()
    try:
        with filter_file() as filter_fd:
            passed = {"status_fd": status_write}
            if launch.is_bubblewrap:
                passed["info_fd"] = info_write
                if filter_fd is not None:
                    passed["seccomp_fd"] = filter_fd
            held.process = subprocess.Popen(
                run_command(launch, limits, **passed),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(*passed.values(), channel_fd),
                env=environment(launch),
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the training, which then ends this.
            )
        for descriptor in (status_write, info_write):
            os.close(descriptor)
        status_write = info_write = -1
        if launch.is_bubblewrap:
            held.init_fd = _first_process(info_read, end_s)
        if _read_line(held.status_fd, end_s) != b"ready\n":
            raise WorkerError("it ended at once, or gave no answer")
    finally:
        for descriptor in (status_write, info_read, info_write):
            if descriptor >= 0:
                os.close(descriptor)
    assert held.process.stdin is not None
    with held.process.stdin as stdin:
        code = _BEGIN.format(channel=channel_fd, program=f"{_PROGRAM}\nmain({channel_fd})\n")
        num_processes = process_limit(launch, limits)
        stdin.write(request(code.encode(), process_limit=num_processes, owns_namespace=False))


def _first_process(info_fd: int, end_s: float) -> int:
    """A descriptor of the process that bubblewrap tells of."""
    while line := _read_line(info_fd, end_s):
        if b"child-pid" in line and (found := re.search(rb"\d+", line)):
            # Its id cannot have passed to another: it waits for a request.
            return os.pidfd_open(int(found.group()))
    raise WorkerError("bubblewrap tells of no process")


def _read_line(descriptor: int, end_s: float) -> bytes:
    """A line with its end; less where the other side has ended, or time has."""
    line = b""
    while not line.endswith(b"\n"):
        is_ready = _wait_readable(descriptor, max(0.0, end_s - time.monotonic()))
        byte = os.read(descriptor, 1) if is_ready else b""
        if not byte:
            break
        line += byte
    return line


def _wait_readable(descriptor: int, limit_s: float) -> bool:
    """Wait until something can be read, or a process that the descriptor stands for has ended."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(limit_s * 1000))


def _last_words(held: _Held) -> str:
    """What a process that did not come up wrote to its standard error."""
    if held.process is None or held.process.stderr is None:
        return ""
    os.set_blocking(held.process.stderr.fileno(), False)
    return (held.process.stderr.read() or b"").decode("utf-8", "replace").strip()[-300:]


def _end(held: _Held) -> None:
    """End the process with all that it started, and close what it was reached by."""
    held.channel.close()
    process, init_fd = held.process, held.init_fd
    if os.getpid() == held.owner_pid:  # otherwise it belongs to the one that this is a fork of
        if init_fd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(init_fd, signal.SIGKILL)
        if process is not None and process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if init_fd >= 0:
            _wait_readable(init_fd, _END_LIMIT_S)
    for descriptor in (init_fd, held.status_fd):
        if descriptor >= 0:
            os.close(descriptor)
    for pipe in (process.stdin, process.stderr) if process is not None else ():
        if pipe is not None:
            pipe.close()
