"""A server as a process: a group of its own that ends whole, however its keeper ends."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence

from toolorchestra.process import dies_with_parent, end_group

WARDEN = """\
read -r _
kill -s TERM -- "-$1"
while [ "$2" -gt "${i:=0}" ] && kill -s 0 -- "-$1"; do sleep 0.1; i=$((i + 1)); done
kill -s KILL -- "-$1"
"""
"""A shell whose input ends when the keeper does. What the kernel sends on a parent's death reaches
neither a server's children nor a server that is deaf to it."""


class ServerProcess:
    """A running server. Its output goes where the keeper's goes."""

    def __init__(self, command: Sequence[str], *, end_s: float) -> None:
        """Starts it.

        Args:
            command: Program and arguments.
            end_s: How long the server may take to end before it is killed.

        Raises:
            OSError: It cannot be started.
        """
        self._end_s = end_s
        self._process = subprocess.Popen(
            [*dies_with_parent("TERM"), *command], stdin=subprocess.DEVNULL, start_new_session=True
        )
        self._warden = subprocess.Popen(
            ["sh", "-c", WARDEN, "warden", str(self._process.pid), str(int(end_s * 10))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what ends the keeper's group must leave it
        )

    @property
    def pid(self) -> int:
        """Of the server itself."""
        return self._process.pid

    def is_running(self) -> bool:
        """Whether the server's own process lives."""
        return self._process.poll() is None

    def how_it_ended(self) -> str:
        """For messages, e.g. "ended with status 1"."""
        status = self._process.poll()
        assert status is not None, "it runs"
        return f"was killed by {_name(-status)}" if status < 0 else f"ended with status {status}"

    def end(self) -> None:
        """Ends the server and its children, by force where asking does not help."""
        end_group(self._process, signal.SIGTERM, signal.SIGKILL, patience_s=self._end_s)
        self._warden.kill()
        self._warden.communicate()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
