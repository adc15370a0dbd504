"""The list of all trajectories: what can be searched and filtered before any is opened.

Columns rather than records, and each episode once: ten thousand rows take some hundred kilobytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolorchestra.page.attempts import Attempt
from toolorchestra.reward.measures import is_executed

MOST_CHARS = 160
"""Of a question or an answer in the list; the trajectory itself holds all of it."""
COLUMNS = (
    "source",
    "step",
    "sample",
    "episode",
    "status",
    "solved",
    "points",
    "cents",
    "seconds",
    "turns",
    "calls",
    "faults",
    "tools",
    "answer",
    "chunk",
    "position",
)


class Index:
    """Gathers one row a trajectory."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._sources = Names()
        self._episodes = Names()
        self._episode_rows: list[list[str]] = []
        self._statuses, self._tools = Names(), Names()

    def __len__(self) -> int:
        return len(self._columns["source"])

    def add(self, run: int, attempt: Attempt, *, chunk: int, position: int) -> None:
        """Takes one more trajectory, whose body is number `position` of a chunk."""
        rollout = attempt.rollout
        shown_as = {tool.name: tool.shown_as for tool in attempt.episode.tools}
        results = [result for turn in rollout.turns for result in turn.results]
        called = dict.fromkeys(shown_as.get(r.name, r.name) for r in results if is_executed(r))
        num_errors = sum(len(turn.errors) for turn in rollout.turns)
        row = {
            "source": self._sources.number((run, attempt.policy, attempt.world)),
            "step": attempt.step,
            "sample": rollout.sample,
            "episode": self._episode(attempt),
            "status": self._statuses.number(rollout.status),
            "solved": None if attempt.is_solved is None else int(attempt.is_solved),
            "points": rounded(attempt.points, 4),
            "cents": rounded(attempt.cost_usd, 6, scale=100.0),
            "seconds": rounded(attempt.latency_s, 2),
            "turns": len(rollout.turns),
            "calls": len(results) + num_errors,
            "faults": num_errors + sum(not is_executed(r) for r in results),
            "tools": [self._tools.number(name) for name in called],
            "answer": shortened(rollout.answer or ""),
            "chunk": chunk,
            "position": position,
        }
        for name, column in self._columns.items():
            column.append(row[name])

    def to_json(self) -> dict[str, Any]:
        """Columns, and the names that their numbers stand for."""
        return {
            "columns": self._columns,
            "sources": [
                {"run": run, "policy": policy, "world": world}
                for run, policy, world in self._sources.values
            ],
            "episodes": self._episode_rows,
            "statuses": self._statuses.values,
            "tools": self._tools.values,
        }

    def _episode(self, attempt: Attempt) -> int:
        """One number for what is the same episode, in whichever run and policy."""
        episode = attempt.episode
        wish = episode.preference
        key = (episode.id, attempt.world, episode.task.question, wish.kind, wish.instruction)
        number = self._episodes.number(key)
        if number == len(self._episode_rows):
            texts = (episode.task.question, episode.task.answer)
            self._episode_rows.append(
                [episode.id, episode.task.skill, wish.kind, *map(shortened, texts)]
            )
        return number


class Names:
    """Numbers values from 0 in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The value's number, the next one if it is new."""
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> Sequence[Any]:
        """All values, by number."""
        return list(self._numbers)


def shortened(text: str) -> str:
    """At most MOST_CHARS characters, the last an ellipsis where some are left out."""
    return text if len(text) <= MOST_CHARS else text[: MOST_CHARS - 1] + "…"


def rounded(value: float | None, digits: int, *, scale: float = 1.0) -> float | None:
    """For a list: the trajectory itself keeps all digits."""
    return None if value is None else round(scale * value, digits)
