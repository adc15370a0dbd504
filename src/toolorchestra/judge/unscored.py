"""Stops a run whose judge fails too often: what it cannot decide is not missing at random."""

from __future__ import annotations

from collections import deque


class TooManyUnscored(OSError):
    """The judge gave no verdict too often; a fault of the outside, not of the program."""


class UnscoredWatch:
    """Watches the share of judgements without a verdict among the last ones."""

    def __init__(self, *, max_share: float, window: int) -> None:
        """Takes the limits.

        Args:
            max_share: Largest share that is put up with.
            window: How many judgements are looked at; before there are as many, none is too many.
        """
        self._max_share, self._last = max_share, deque[bool](maxlen=window)

    def note(self, *, is_scored: bool, reason: str = "") -> None:
        """Hears of one judgement.

        Raises:
            TooManyUnscored: It is one too many.
        """
        self._last.append(is_scored)
        num_unscored = self._last.count(False)
        if is_scored or len(self._last) < (self._last.maxlen or 0):
            return
        if num_unscored > self._max_share * len(self._last):
            raise TooManyUnscored(
                f"{num_unscored} of the last {len(self._last)} judgements gave no verdict, more "
                f"than judge.max_unscored_share={self._max_share:g} allows; the last: {reason}"
            )
