"""One vLLM server as a process: started, watched, and ended with all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

END_S = 10.0
"""How long a server may take to end before it is killed."""

PREFIX = re.compile(
    r"^(\([^)]*pid=\d+\) ?)?((?P<level>[A-Z]+) \d\d-\d\d [\d:]+ \[[^\]]*\] ?)?(?P<text>.*)$"
)
"""What vLLM writes before the lines of its log."""
ERROR = re.compile(r"(\w+\.)*\w*(Error|Exception)\b.*:")
ECHO = re.compile(r"root cause|^RuntimeError: cancelled$")
"""In errors that come of what the log names before."""


class VllmProcess:
    """A server that begins with its own folder of weights and writes its own log."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], log: Path, port: int
    ) -> None:
        """Starts a command that takes --host and --port.

        It ends when the thread that starts it does, however that comes about: no worker outlives
        its run.
        """
        self.url, self._log = f"http://127.0.0.1:{port}", log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._log_start = output.tell()
            self._process = subprocess.Popen(
                [*dies_with_parent("TERM"), *command, "--host", "127.0.0.1", "--port", str(port)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env},
                start_new_session=True,  # one group, so that its own children end with it
            )

    @property
    def pid(self) -> int:
        """Of the server itself."""
        return self._process.pid

    def is_running(self) -> bool:
        """Whether the server's own process lives."""
        return self._process.poll() is None

    def was_killed(self) -> bool:
        """Whether a signal ended it: somebody else's doing, such as a kernel short of memory."""
        return (self._process.poll() or 0) < 0

    def end(self) -> None:
        """Ends the server and its children, by force where asking does not help."""
        group = self._process.pid
        for number, patience_s in ((signal.SIGTERM, END_S), (signal.SIGKILL, END_S)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)
            deadline = time.monotonic() + patience_s
            while time.monotonic() < deadline:
                self._process.poll()  # takes its exit status, or it would live on as a zombie
                if not _group_lives(group):
                    return
                time.sleep(0.05)

    async def aend(self) -> None:
        """As `end`, while others go on."""
        await asyncio.to_thread(self.end)

    def last_error(self) -> str:
        """The last line that this start logged of an error that no other caused, or its last."""
        try:
            text = self._log.read_bytes()[self._log_start :].decode(errors="replace")
        except OSError:
            return "it left no log"
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
        text = re.sub(r"(validation errors? for \w+)\n\s*", r"\1: ", text)
        entries = [found for line in text.splitlines() if (found := PREFIX.match(line))]
        # what it warns of, it lives on with
        plain = [entry["text"].strip() for entry in entries if entry["level"] != "WARNING"]
        errors = [line for line in plain if ERROR.match(line)]
        causes = [line for line in errors if not ECHO.search(line)]
        deaths = [line for line in plain if " died unexpectedly" in line]
        lines = [line for line in plain if line]
        return (causes or deaths or errors or lines or ["its log is empty"])[-1][:300]


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def dies_with_parent(signal_name: str) -> list[str]:
    """util-linux's setpriv asks the kernel to signal a process when its parent is gone."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", signal_name, "--"] if setpriv else []


def _group_lives(group: int) -> bool:
    """Zombies do not count: in a container, nobody may ever take an orphan's exit status."""
    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return True
    return False
