"""The program inside the sandbox that calls a domain's functions, each call in a fresh process.

The process that waits for requests executes nothing of the domain: for each it forks one that runs
`functions.py` from the start, makes the call, writes its reply and is ended with all that it
started. So nothing is left for the next call, whatever the code did.

It is handed to the interpreter as source text, so it imports nothing of this project before the
first message, which brings the modules that it and the domain's code may import.

A message is a letter, 4 bytes of length and the content. Requests are JSON. Answers are "r": what
the forked process wrote, which may be anything; or "d": why there is no reply; or "x": the
same, and no request is taken any more.
"""

import contextlib
import ctypes
import gc
import importlib.abc
import importlib.machinery
import json
import os
import random
import resource
import select
import signal
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36
_REPLY_FD = 3
_CHUNK_BYTES = 1 << 16
_LONE_PID = 64
"""In a process namespace of our own, the interpreter is among the first."""
_WRITABLE = ("/tmp", "/dev/shm")
_USED_OFTEN = (
    "calendar", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "hashlib", "inspect", "itertools", "math", "operator", "re", "statistics",
    "string", "textwrap", "typing", "unicodedata", "uuid",
)  # fmt: skip
"""Imported before the first fork, so that no call has to."""

CODE = "domain_code"
"""The package that the domain's files are modules of, inside."""


class Given(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules from texts; a package is one whose text is None."""

    def __init__(self, texts: dict[str, str | None]) -> None:
        self._texts = texts
        self._code: dict[str, types.CodeType] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Where a module comes from; None where it is not one of these."""
        if fullname not in self._texts:
            return None
        is_package = self._texts[fullname] is None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)

    def compile(self, name: str) -> types.CodeType:
        """The code of a module, compiled once; nothing of it is executed."""
        if name not in self._code:
            filename = name.removeprefix(f"{CODE}.") + ".py"
            self._code[name] = compile(self._texts[name] or "", filename, "exec", dont_inherit=True)
        return self._code[name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Run a module's code."""
        exec(self.compile(module.__name__), module.__dict__)


class Server:
    """Answers requests until the other side hangs up."""

    def __init__(self, channel: int, start: dict[str, Any]) -> None:
        """Import what the first message brought.

        Args:
            channel: Descriptor of the connection to the other side.
            start: The first message.
        """
        self._channel = channel
        self._limit_s: float = start["limit_s"]
        self._max_bytes: int = start["max_bytes"]
        self._owns_namespace: bool = start["owns_namespace"]
        if self._owns_namespace and os.getpid() > _LONE_PID:
            raise RuntimeError("the sandbox has no process namespace of its own")
        texts = start["modules"] | {CODE: None}
        for file, text in start["files"].items():
            texts[f"{CODE}.{file}"] = text
        self._given = Given(texts)
        sys.meta_path.insert(0, self._given)
        sys.argv = [""]
        for name in (*_USED_OFTEN, *start["modules"]):
            importlib.import_module(name)
        self._answer = importlib.import_module("toolorchestra.domain.untrusted.answer")
        self._database = self._answer.make_database(start["schema"], start["records"])
        self._schema = self._answer.make_database(start["schema"], {}).schema
        gc.freeze()

    def run(self) -> None:
        """Serve."""
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if self._owns_namespace:
            _prctl(_PR_SET_DUMPABLE, 0)  # No forked process may write into this one's memory.
        os.dup2(1, 2)  # Nobody reads what a compiler warns of.
        as_it_was = self._state()
        send(self._channel, b"r", b"")
        while (message := receive(self._channel)) is not None:
            kind, content = self._attempt(message[1])
            if self._state() != as_it_was:
                send(self._channel, b"x", b"it changed what outlives the call")
                return
            send(self._channel, kind, content)

    def _attempt(self, message: bytes) -> tuple[bytes, bytes]:
        request = json.loads(message)
        try:
            self._given.compile(f"{CODE}.{request['file']}")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return b"r", json.dumps({"broken": describe(error)}).encode()
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(write_end, _REPLY_FD)
            self._serve_one(request)
        os.close(write_end)
        try:
            return self._collect(pid, read_end)
        finally:
            os.close(read_end)

    def _collect(self, pid: int, read_end: int) -> tuple[bytes, bytes]:
        """What the process wrote, once it and all that it started have ended."""
        os.set_blocking(read_end, False)
        reply = bytearray()
        end_s = time.monotonic() + self._limit_s
        process = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.register(read_end, select.POLLIN)
        has_ended = False
        while not has_ended and len(reply) <= self._max_bytes:
            ready = dict(poll.poll(max(0.0, end_s - time.monotonic()) * 1000))
            if not ready:
                break
            has_ended = process in ready
            while len(reply) <= self._max_bytes and (data := _read_some(read_end)):
                reply += data
            if not has_ended and read_end in ready and not ready[read_end] & select.POLLIN:
                poll.unregister(read_end)  # closed, and the process goes on
        os.close(process)
        status = self._end(pid)
        if len(reply) > self._max_bytes:
            return b"d", b"it gave more than %d bytes" % self._max_bytes
        if not has_ended:
            return b"d", b"it ran longer than %g s" % self._limit_s
        if status:
            return b"d", b"it ended its process (%s)" % _ending(status)
        return b"r", bytes(reply)

    def _end(self, pid: int) -> int:
        """End the process and, where that can be told, all that it started."""
        try:
            if self._owns_namespace:
                os.kill(-1, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        status = os.waitpid(pid, 0)[1]
        while self._owns_namespace:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        return status

    def _state(self) -> object:
        """What a forked process could change of this one or of its sandbox, but for its memory."""
        if not self._owns_namespace:
            return None
        return (
            [resource.getrlimit(limit) for limit in range(16)],
            os.getpriority(os.PRIO_PROCESS, 0),
            os.sched_getscheduler(0),
            os.sched_getaffinity(0),
            [os.listdir(folder) for folder in _WRITABLE if os.path.isdir(folder)],
        )

    def _serve_one(self, request: dict[str, Any]) -> None:
        """The forked process: answers and ends, whatever happens."""
        try:
            for number in os.listdir("/proc/self/fd"):
                if int(number) > _REPLY_FD:
                    close_if_open(int(number))
            cpu_s = int(self._limit_s) + 2
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            random.seed(0)  # So that a call repeats exactly, in another sandbox too.
            write_all = _writer(_REPLY_FD)
            to_text = json.dumps
            try:
                reply = to_text(self._work(request), allow_nan=False).encode()
            except BaseException as error:  # Whatever the domain's code raises is its bug.
                reply = to_text({"broken": describe(error)}).encode()
            write_all(reply)
        finally:
            os._exit(0)

    def _work(self, request: dict[str, Any]) -> Any:
        name, file = request.get("name"), f"{CODE}.{request['file']}"
        if name is None:
            return self._answer.tell(importlib.import_module(file))
        database = self._database
        changes = request["changes"]
        database.take_over({(c, k): r for c, rs in changes.items() for k, r in rs.items()})
        module = importlib.import_module(file)
        return self._answer.call(module, name, request["arguments"], database.fresh(), self._schema)


def describe(error: BaseException) -> str:
    """The last line of a traceback."""
    try:
        text = str(error)
    except BaseException:  # The domain's own __str__ may raise anything.
        text = "<unprintable>"
    return f"{type(error).__name__}: {text[:1000]}"


def send(channel: int, kind: bytes, content: bytes) -> None:
    """Write one message."""
    _writer(channel)(kind + len(content).to_bytes(4, "big") + content)


def receive(channel: int) -> tuple[bytes, bytes] | None:
    """Read one message; None once the other side has hung up."""
    header = _read_exactly(channel, 5)
    if len(header) < 5:
        return None
    length = int.from_bytes(header[1:], "big")
    content = _read_exactly(channel, length)
    return (header[:1], content) if len(content) == length else None


def close_if_open(descriptor: int) -> None:
    """Close a descriptor, which may be the one that a listing of them was read from."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _read_exactly(descriptor: int, length: int) -> bytes:
    data = bytearray()
    while len(data) < length and (some := os.read(descriptor, length - len(data))):
        data += some
    return bytes(data)


def _read_some(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except BlockingIOError:
        return b""


def _writer(
    descriptor: int, write: Callable[[int, Any], int] = os.write
) -> Callable[[bytes], None]:
    def write_all(data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[write(descriptor, rest) :]

    return write_all


def _ending(status: int) -> bytes:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name.encode()
    return b"exit code %d" % os.waitstatus_to_exitcode(status)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main(channel: int) -> None:
    """Serve on an inherited descriptor until the other side hangs up."""
    os.set_inheritable(channel, False)
    os.environ.pop("PYTHONHASHSEED", None)
    sys.path.remove("")  # Nothing is imported from where it happens to start.
    first = receive(channel)
    if first is not None:
        Server(channel, json.loads(first[1])).run()
