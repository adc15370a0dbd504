"""Options of the sandbox: how much a program may use, and whether state survives a call."""

from __future__ import annotations

import math
from dataclasses import dataclass

RUN_WITHOUT_SANDBOX = "run_without_sandbox"


@dataclass(frozen=True, kw_only=True)
class SandboxConfig:
    """Limits of one run of the code interpreter.

    `memory_mb` bounds each process, so that a run holds at most `max_processes` times as much, plus
    its temporary files.
    """

    timeout_s: float = 10.0
    """Wall-clock seconds a program may run, start-up of the sandbox not included."""
    memory_mb: int = 512
    """Address space of a process in MiB."""
    max_processes: int = 16
    """Processes and threads at one time, the interpreter itself included."""
    max_output_bytes: int = 16384
    """Bytes of standard output, and of standard error, that are kept."""
    is_stateful: bool = False
    """Whether variables live on from call to call of one rollout."""
    unsafe: str = ""
    """"run_without_sandbox": programs are plain processes that see all that this user sees."""
    max_parallel: int = 2
    """Programs that run at one time."""
    python: str = ""
    """Interpreter to run, with its installed packages; empty: the current one with the standard
    library only, which starts faster."""

    def __post_init__(self) -> None:
        if not 0 < self.timeout_s <= 3600 or not math.isfinite(self.timeout_s):
            raise _refusal("timeout_s", self.timeout_s, "seconds above 0, at most 3600")
        _check_integer("memory_mb", self.memory_mb, 64, 1 << 20)
        _check_integer("max_processes", self.max_processes, 4, 4096)
        _check_integer("max_output_bytes", self.max_output_bytes, 1, 1 << 24)
        _check_integer("max_parallel", self.max_parallel, 1, 1024)
        if not isinstance(self.is_stateful, bool):
            raise _refusal("is_stateful", self.is_stateful, "true or false")
        if self.unsafe not in ("", RUN_WITHOUT_SANDBOX):
            raise _refusal("unsafe", repr(self.unsafe), f'"" or "{RUN_WITHOUT_SANDBOX}"')
        if self.python and not self.python.startswith("/"):
            raise _refusal("python", repr(self.python), "an absolute path, or nothing")


def _check_integer(key: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _refusal(key, value, f"a whole number from {least} to {most}")


def _refusal(key: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"sandbox.{key}: {value} is not allowed; use {allowed}")
