"""What a program did, told from the runner's last word, the exit code and the output."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Literal

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.written import WrittenFiles

SandboxStatus = Literal["ok", "error", "timeout", "memory", "output_limit"]

_SIGNAL_BASE = 128
"""A process that signal N killed shows as 128 + N through bubblewrap, as -N otherwise."""


class SandboxError(RuntimeError):
    """The sandbox itself failed: no fault of the program."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxResult:
    """What a program did."""

    status: SandboxStatus
    stdout: str
    """What it printed, then the value of its last expression; says where it was cut short."""
    stderr: str = ""
    """What it wrote there, then the traceback if it raised; says where it was cut short."""
    message: str = ""
    """One line on what went wrong; empty if nothing did."""
    note: str = ""
    """What else the program's author should know, e.g. that earlier variables are gone."""
    files: WrittenFiles = WrittenFiles()
    """What it left in its folder, where it has one."""


def judge(
    line: str | None,
    *,
    exit_code: int | None,
    has_timed_out: bool,
    stdout: tuple[bytes, int],
    stderr: tuple[bytes, int],
    config: SandboxConfig,
) -> SandboxResult:
    """Settle what happened.

    Args:
        line: The runner's status line; None if it wrote none.
        exit_code: The interpreter's, None while it lives.
        has_timed_out: Whether the wall-clock limit ended it.
        stdout: Bytes kept and number of bytes thrown away.
        stderr: The same.
        config: The limits, for the messages.
    """
    status, message = _status(line, exit_code, has_timed_out, config)
    if status == "ok" and stdout[1]:
        status = "output_limit"
        message = f"printed more than {config.max_output_bytes} bytes"
    return SandboxResult(
        status=status, stdout=_text(*stdout), stderr=_text(*stderr), message=message
    )


def _status(
    line: str | None, exit_code: int | None, has_timed_out: bool, config: SandboxConfig
) -> tuple[SandboxStatus, str]:
    if has_timed_out:
        return "timeout", f"ran longer than {config.timeout_s:g} s"
    word, _, message = (line or "").partition(" ")
    if word == "memory":
        return "memory", f"needed more than {config.memory_mb} MB of memory"
    if word == "error":
        return "error", message
    if word == "ok" and not exit_code:
        return "ok", ""
    killer = _killer(exit_code)
    reason = f"signal {killer}" if killer else f"exit code {exit_code}"
    return "error", f"the program ended the interpreter ({reason})"


def _killer(exit_code: int | None) -> str | None:
    if exit_code is None or 0 <= exit_code <= _SIGNAL_BASE:
        return None
    number = -exit_code if exit_code < 0 else exit_code - _SIGNAL_BASE
    return signal.Signals(number).name if number in set(signal.Signals) else None


def _text(kept: bytes, num_dropped: int) -> str:
    text = kept.decode("utf-8", "replace")
    return f"{text}\n[{num_dropped} more bytes were cut]" if num_dropped else text
