"""Records a training run as it goes: CSV, JSONL, W&B, and a line a step for whoever watches."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolorchestra.report.metrics import STEP, MetricsCsv, read_metrics
from toolorchestra.report.tracking import Tracker
from toolorchestra.report.trajectories import TRAJECTORIES_FILE, TrajectoryLog
from toolorchestra.types import Group, Turn

METRICS_FILE = "metrics.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class Journal:
    """The open files of one run."""

    metrics: MetricsCsv
    trajectories: TrajectoryLog


def open_journal(run_dir: Path, *, first_step: int) -> Journal:
    """Opens the files of a run, cut back to what came before `first_step`.

    Raises:
        ValueError: they are corrupt, or end before the step that a checkpoint goes on from.
    """
    metrics, trajectories = run_dir / METRICS_FILE, run_dir / TRAJECTORIES_FILE
    if first_step > 0:
        _check_reaches(metrics, max((row[STEP] for row in _rows(metrics)), default=-1), first_step)
        _check_reaches(trajectories, _last_step(trajectories), first_step)
    return Journal(
        metrics=MetricsCsv(metrics, keep_through=first_step - 1),
        trajectories=TrajectoryLog(trajectories, keep_through=first_step - 1),
    )


def _rows(path: Path) -> list[dict[str, float]]:
    return read_metrics(path) if path.exists() else []


def _last_step(path: Path) -> int:
    """Step of the last whole line of trajectories; -1 if there is none."""
    last = b""
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                last = line if line.endswith(b"\n") else last
    try:
        return int(json.loads(last)["step"]) if last else -1
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: its last line is corrupt; restore the file, or start anew without resume"
        ) from error


def _check_reaches(path: Path, last_step: float, first_step: int) -> None:
    if last_step < first_step - 1:
        raise ValueError(
            f"{path} ends before step {first_step}, at which the checkpoint goes on; restore the "
            "file, or start anew without resume"
        )


MOST_INCREMENTS = 100
"""W&B shows this many increments of a table; a longer run adds rows in fewer of its steps."""


class Recorder:
    """Writes down every step of one run."""

    def __init__(
        self,
        journal: Journal,
        tracker: Tracker,
        *,
        first_step: int,
        max_steps: int,
        trajectories_per_step: int,
        say: Callable[[str], None],
    ) -> None:
        """Takes what it writes to, and how far the run is to go."""
        self._journal, self._tracker, self._say = journal, tracker, say
        self._first_step, self._max_steps = first_step, max_steps
        self._trajectories_per_step = trajectories_per_step
        self._start_s = time.perf_counter()

    def record(self, step: int, groups: Sequence[Group], metrics: Mapping[str, float]) -> None:
        """Writes one step down."""
        self._journal.metrics.write(step, metrics)
        self._journal.trajectories.write(step, groups)
        self._tracker.log(step, metrics)
        if step % math.ceil(self._max_steps / MOST_INCREMENTS) == 0:
            self._tracker.log_rows(step, trajectory_rows(groups, self._trajectories_per_step))
        self._say(self._line(step, metrics))

    def _line(self, step: int, metrics: Mapping[str, float]) -> str:
        done = step + 1 - self._first_step
        pace_s = (time.perf_counter() - self._start_s) / done
        left_s = int(pace_s * (self._max_steps - step - 1))
        kept = metrics["drops/num_rollouts"] - metrics["drops/num_dropped"]
        return (
            f"step {step + 1}/{self._max_steps}  reward {metrics['reward/mean']:.3f}  "
            f"accuracy {metrics['accuracy']:.3f}  utility {metrics['utility']:.3f}  "
            f"{metrics['cost_cents']:.2f} cents  {metrics['latency_s']:.0f} s  "
            f"trained on {kept:.0f}/{metrics['drops/num_rollouts']:.0f}  "
            f"{pace_s:.1f} s a step, {left_s // 60}:{left_s % 60:02d} left"
        )


def transcript(turn: Turn) -> list[str]:
    """What a message said, and what it caused: results, or what the user did and said."""
    parts = [turn.text, *(result.content for result in turn.results)]
    if turn.user is not None:
        parts += [f"user: {call.name} {json.dumps(call.arguments)}" for call in turn.user.calls]
        parts += [result.content for result in turn.user.results]
        parts += [f"user: {turn.user.text}"] if turn.user.text else []
    return parts


def trajectory_rows(groups: Sequence[Group], num_rows: int) -> list[dict[str, Any]]:
    """The first rollout of the first groups, as rows for a table of trajectories."""
    return [
        {
            "episode": group.episode.id,
            "skill": group.episode.task.skill,
            "question": group.episode.task.question,
            "preference": group.episode.preference.instruction,
            "transcript": "\n".join(
                part for turn in group.rollouts[0].turns for part in transcript(turn)
            ),
            "answer": group.rollouts[0].answer or "",
            "expected": group.episode.task.answer,
            "reward": group.scores[0].reward,
            "cost_usd": group.scores[0].measures.cost_usd,
            "latency_s": group.scores[0].measures.latency_s,
        }
        for group in groups[:num_rows]
        if group.rollouts
    ]
