"""Processes that others start: where they listen, what signals reach them, with whom they end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil

PR_SET_CHILD_SUBREAPER = 36
"""Of Linux's prctl."""
STOP_SIGNALS = (signal.SIGTERM, signal.SIGUSR2)
"""What a cluster sends to all processes of a job that is to stop, some of which know no better than
to die at once."""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def dies_with_parent(signal_name: str) -> list[str]:
    """util-linux's setpriv asks the kernel to signal a process when its parent is gone."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", signal_name, "--"] if setpriv else []


@contextlib.contextmanager
def shielding() -> Iterator[None]:
    """Whatever is started inside hears no stop signal, nor does anything that it starts.

    A blocked signal stays so over fork and exec; a handler would not.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hearing() -> list[str]:
    """What a command begins with that is to hear stop signals although its parent does not."""
    code = (
        "import os, signal, sys; "
        f"signal.pthread_sigmask(signal.SIG_UNBLOCK, {[int(s) for s in STOP_SIGNALS]}); "
        "os.execvp(sys.argv[1], sys.argv[1:])"
    )
    return [sys.executable, "-S", "-c", code]


def adopt_orphans() -> None:
    """Processes that this one's children leave behind become its own, for `end_descendants`."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants(*, patience_s: float) -> None:
    """Kills all that this process has started, by way of others too."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        left = psutil.Process().children(recursive=True)
        if not left:
            return
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=0.2)  # takes the exit status of those that are children


def end_group(
    process: subprocess.Popen[bytes], *signals: signal.Signals, patience_s: float
) -> None:
    """Sends the group that `process` leads one signal after the other until none of it is left."""
    for number in signals:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            process.poll()  # takes its exit status, or it would live on as a zombie
            if not group_lives(process.pid):
                process.poll()  # it may have ended only just now
                return
            time.sleep(0.05)


def group_lives(group: int) -> bool:
    """Zombies do not count: in a container, nobody may ever take an orphan's exit status."""
    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return True
    return False
