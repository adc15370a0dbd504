"""How a run is asked to stop: by a file in its folder, which it looks for at the end of each step.

A signal that interrupts the work anywhere cannot be answered by a checkpoint; and clusters send
theirs to processes that know nothing of steps. So whoever hears the signal makes the file.
"""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from toolorchestra.process import STOP_SIGNALS

STOP_FILE = "stop"
"""In a run's folder: asks the run to end after its step. The run removes it."""
STOPPED = 75
"""Exit status of a run that has stopped as asked and can go on: EX_TEMPFAIL of sysexits.h."""


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The run has stopped as it was asked to."""


class StopFile:
    """The file by which one run is asked to stop."""

    def __init__(self, run_dir: Path) -> None:
        """Takes the run's folder."""
        self._path = run_dir / STOP_FILE

    def ask(self) -> None:
        """Asks the run to stop."""
        self._path.touch()

    def is_there(self) -> bool:
        """Whether the run has been asked."""
        return self._path.exists()

    def remove(self) -> None:
        """Takes the wish back; so does the run when it fulfils it."""
        self._path.unlink(missing_ok=True)

    def obey(self) -> None:
        """To be called where the run can be left without loss.

        Raises:
            Stopped: It was asked to.
        """
        if self.is_there():
            self.remove()
            raise Stopped("stopped as asked; the same command with resume=auto goes on")


class Signals:
    """A context in which stop signals only set a flag; none of the handlers before acts."""

    def __init__(self) -> None:
        self._is_heard = False  # no threading.Event: one signal within another would lock it
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        self._before = {number: signal.signal(number, self._hear) for number in STOP_SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._is_heard = True

    @property
    def heard(self) -> bool:
        """Whether one has come."""
        return self._is_heard
