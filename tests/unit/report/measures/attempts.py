"""Attempts and results by hand."""

from __future__ import annotations

from typing import Any

from toolorchestra.benchmark.evaluate import Result
from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.measures.attempt import Attempt, EpisodeDigest
from toolorchestra.types import Measures, Preference


def preference(kind: str = "frugal", **weights: Any) -> Preference:
    fields: dict[str, Any] = {"outcome": 1.0, "cost": 0.0, "latency": 0.0}
    return Preference(kind=kind, instruction="", **(fields | weights))


def measures(outcome: float = 1.0, **changes: Any) -> Measures:
    fields: dict[str, Any] = {"tool_counts": {"a": 1}, "cost_usd": 0.02, "latency_s": 30.0}
    return Measures(outcome=outcome, **(fields | changes))


def attempt(policy: str, episode: str, **changes: Any) -> Attempt:
    """Solved in two turns, with an answer that states no confidence."""
    fields: dict[str, Any] = {
        "world": "seen",
        "trial": 0,
        "task": f"task of {episode}",
        "digest": EpisodeDigest(task=episode, tools="t", preference="p", seed=1),
        "preference": preference(),
        "status": "answered",
        "measures": measures(),
        "utility": 1.0,
        "wall_s": 6.0,
        "turn_usd": (0.015, 0.005),
        "has_answer": True,
        "confidence": None,
        "is_asked_confidence": False,
        "is_simulated": False,
    }
    return Attempt(policy=policy, episode=episode, **(fields | changes))


def result(policy: str, episode: str, is_solved: float | None = 1.0, **changes: Any) -> Result:
    fields: dict[str, Any] = {
        "world": "seen",
        "skill": "math",
        "preference": "frugal",
        "utility": is_solved,
        "cost_usd": None if is_solved is None else 0.02,
        "latency_s": None if is_solved is None else 30.0,
        "tool_counts": {},
        "num_calls": 0,
        "num_malformed": 0,
        "status": "answered",
    }
    return Result(policy=policy, episode=episode, is_solved=is_solved, **(fields | changes))


def evaluation(*items: Result | Attempt, **changes: Any) -> Evaluation:
    return Evaluation(
        results=tuple(item for item in items if isinstance(item, Result)),
        attempts=tuple(item for item in items if isinstance(item, Attempt)),
        is_simulated=False,
        **changes,
    )


def rows_of(table: Any) -> dict[Any, dict[str, Any]]:
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
