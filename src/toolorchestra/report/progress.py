"""How far an evaluation is: on a terminal a text that changes, elsewhere log lines at intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from toolorchestra.benchmark.evaluate import Result

INTERVAL_S = 30.0
"""Between log lines."""
Place = tuple[str, str]
"""A policy and a world."""


@dataclass(kw_only=True, slots=True)
class _Sum:
    """What the trials of a policy in a world have come to."""

    num_done: int = 0
    num_played: int = 0
    """Of these, in this process; the others were read back."""
    num_scored: int = 0
    num_solved: float = 0.0
    cost_usd: float = 0.0
    """With judges and users; simulated prices count as they are listed."""
    played_s: float = 0.0

    def add(self, result: Result) -> None:
        """Takes one more trial."""
        self.num_done += 1
        if result.is_solved is not None:
            self.num_scored += 1
            self.num_solved += result.is_solved
        self.cost_usd += (result.cost_usd or 0.0) + result.judge_usd + result.user_usd


class EvaluationProgress:
    """Follows an evaluation; its methods may be called from any thread."""

    def __init__(
        self,
        totals: Mapping[Place, int],
        known: Sequence[Result] = (),
        *,
        say: Callable[[str], None],
        console: Console | None = None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes what is to be done.

        Args:
            totals: Trials of each policy in each world, in the order in which they are played.
            known: Results of trials that need not be played.
            say: Takes log lines; on a terminal there are none.
            console: The terminal; None: there is none.
            clock_s: Tells the time in seconds.
        """
        self._totals, self._say, self._clock_s = dict(totals), say, clock_s
        self._sums = {place: _Sum() for place in self._totals}
        for result in known:
            if (sum_ := self._sums.get((result.policy, result.world))) is not None:
                sum_.add(result)
        self._place: Place = next(iter(self._totals))
        self._begun_s = self._said_s = clock_s()
        self._lock = Lock()
        self._live = None if console is None else Live(console=console)

    @property
    def _num_total(self) -> int:
        return sum(self._totals.values())

    def __enter__(self) -> EvaluationProgress:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def begin(self, policy: str, world: str) -> None:
        """Hears what is played next."""
        with self._lock:
            self._place, self._begun_s = (policy, world), self._clock_s()
            self._said_s = self._begun_s
            if self._live is None:
                self._say(f"evaluating {policy} in the {world} world")
            self._show()

    def took(self, result: Result) -> None:
        """Hears of a trial that has just ended."""
        with self._lock:
            now_s, sum_ = self._clock_s(), self._sums[self._place]
            sum_.add(result)
            sum_.num_played += 1
            sum_.played_s = now_s - self._begun_s
            if self._live is None and now_s - self._said_s >= INTERVAL_S:
                self._said_s = now_s
                self._say(self.told())
            self._show()

    def end(self) -> None:
        """Hears that this policy is done in this world."""
        with self._lock:
            if self._live is None and self._sums[self._place].num_played:
                self._say(self.told())

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(Text(self.told()))

    def told(self) -> str:
        """Where it is, in one line."""
        sum_, total = self._sums[self._place], self._totals[self._place]
        done = sum(one.num_done for one in self._sums.values())
        cents = 100 * sum(one.cost_usd for one in self._sums.values())
        policy, world = self._place
        parts = [
            f"{policy} in the {world} world: {sum_.num_done} of {total} tasks, {done} of "
            f"{self._num_total} in all"
        ]
        if sum_.num_scored:
            parts.append(f"accuracy {sum_.num_solved / sum_.num_scored:.3f}")
        parts.append(f"{cents:.2f} cents so far")
        if done < self._num_total and (expected := self.expected_cents()) is not None:
            parts.append(f"about {expected:.2f} in all")
        if (left_s := self.left_s()) is not None:
            end = time.strftime("%H:%M", time.localtime(time.time() + left_s))
            parts.append(f"done at about {end}, in {_duration(left_s)}")
        return ", ".join(parts)

    def expected_cents(self) -> float | None:
        """What all will have cost; who has not begun is taken to cost the mean of the others."""
        done = sum(sum_.num_done for sum_ in self._sums.values())
        if not done:
            return None
        mean_usd = sum(sum_.cost_usd for sum_ in self._sums.values()) / done
        usd = 0.0
        for place, total in self._totals.items():
            sum_ = self._sums[place]
            own_usd = sum_.cost_usd / sum_.num_done if sum_.num_done else mean_usd
            usd += own_usd * total
        return 100 * usd

    def left_s(self) -> float | None:
        """Seconds left, reckoned like the cost, from what was played here; None: unknown."""
        played = sum(sum_.num_played for sum_ in self._sums.values())
        if not played:
            return None
        mean_s = sum(sum_.played_s for sum_ in self._sums.values()) / played
        left_s = 0.0
        for place, total in self._totals.items():
            sum_ = self._sums[place]
            own_s = sum_.played_s / sum_.num_played if sum_.num_played else mean_s
            left_s += own_s * max(total - sum_.num_done, 0)
        return left_s or None


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
