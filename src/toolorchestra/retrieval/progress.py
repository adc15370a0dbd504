"""A line now and then on how far a long task has come: readable in a terminal and in a log."""

from __future__ import annotations

import logging
import time

log = logging.getLogger(__name__)

EVERY_S = 5.0


class Progress:
    """Counts what is done, and tells of it every few seconds and at the end."""

    def __init__(self, what: str, *, total: int | None = None) -> None:
        """Starts the clock.

        Args:
            what: E.g. "passages encoded".
            total: How many there will be; None: not known.
        """
        self._what, self._total, self._done = what, total, 0
        self._begun_at = self._told_at = time.monotonic()

    def add(self, count: int) -> None:
        """So many more are done."""
        self._done += count
        if time.monotonic() - self._told_at >= EVERY_S:
            self._tell()

    def end(self) -> None:
        """All are done."""
        self._total = self._done
        self._tell()

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        elapsed_s = self._told_at - self._begun_at
        rate = self._done / elapsed_s if elapsed_s > 0 else 0.0
        of, left = "", ""
        if self._total is not None and self._total > self._done:
            of = f" of {self._total:,}"
            left = f", {(self._total - self._done) / rate:,.0f} s left" if rate else ""
        log.info("%s: %s%s, %s a second%s", self._what, f"{self._done:,}", of, f"{rate:,.0f}", left)
