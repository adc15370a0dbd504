"""One process of a job's task, with all that it starts: shielded from signals, and ended whole."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolorchestra.process import dies_with_parent, end_descendants, shielding

END_S = 10.0
"""How long a killed group may take to be gone."""


class Child:
    """A command under way; it ends when this process does, however that comes about."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path
    ) -> None:
        """Starts it; what it says is added to `log`."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as output, shielding():
            self._log_start = output.tell()
            self._process = subprocess.Popen(
                [*dies_with_parent("KILL"), *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env},
                cwd=cwd,
                start_new_session=True,
            )

    def status(self) -> int | None:
        """Its exit status, negative after a signal; None while it runs."""
        return self._process.poll()

    def ask_to_end(self) -> None:
        """Sends it SIGTERM. It begins deaf to that: only one that listens for it hears."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends it at once, with all that this process has started, such as orphans of its own."""
        self._process.kill()
        self._process.wait()
        end_descendants(patience_s=END_S)

    def last_words(self) -> str:
        """The last line that says error, or else its last line."""
        text = self.log.read_bytes()[self._log_start :].decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("error: ")]
        return (errors or lines or ["it said nothing"])[-1][:500]
