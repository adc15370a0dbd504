"""One vLLM server as a process: started, watched, and ended with all that it started."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolorchestra.process import dies_with_parent, end_group, hearing

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
                [
                    *dies_with_parent("TERM"),
                    *hearing(),
                    *command,
                    *("--host", "127.0.0.1", "--port", str(port)),
                ],
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
        end_group(self._process, signal.SIGTERM, signal.SIGKILL, patience_s=END_S)

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
