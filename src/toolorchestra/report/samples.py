"""Answers that were given, from whatever file holds them: for judging them again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolorchestra.domain.goal import ANSWER_KIND
from toolorchestra.report.trajectories import read_trajectories, read_trials
from toolorchestra.types import Json, Task

KEYS = ("question", "answer", "given", "answer_kind", "aliases", "options", "id")
"""Of a line of plain answers; the first three are needed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One answer that was given to a task."""

    task: Task
    given: str | None


def read_samples(path: Path) -> list[Sample]:
    """The answers of a file, void rollouts and tasks of domains left out: no judge sees those.

    Args:
        path: Trajectories of a training or an evaluation, as a run writes them, or lines such as
            {"question": ..., "answer": the right one, "given": ...}, with `answer_kind` (else
            "text"), `aliases`, `options` and `id` if there are any.

    Raises:
        ValueError: It cannot be read, or holds no answer.
    """
    first = _first_line(path)
    if "group" in first:
        samples = [
            Sample(task=item.group.episode.task, given=rollout.answer)
            for item in read_trajectories(path)
            for rollout in item.group.rollouts
        ]
    elif "rollout" in first:
        trials = (trial for trial in read_trials(path) if trial.rollout.status != "void")
        samples = [Sample(task=t.episode.task, given=t.rollout.answer) for t in trials]
    else:
        samples = list(_plain(path))
    samples = [sample for sample in samples if sample.task.answer_kind != ANSWER_KIND]
    if not samples:
        raise ValueError(f"{path}: it holds no answer; use a file with at least one")
    return samples


def _first_line(path: Path) -> Json:
    try:
        with path.open(encoding="utf-8") as file:
            value = json.loads(file.readline() or "{}")
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as JSON lines ({error})") from error
    return value if isinstance(value, dict) else {}


def _plain(path: Path) -> Iterator[Sample]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            where = f"{path}:{number}"
            try:
                value = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{where}: the line is not JSON ({error})") from error
            yield _sample(value, where, default_id=f"line {number}")


def _sample(value: Any, where: str, *, default_id: str) -> Sample:
    if not isinstance(value, dict) or set(value) - set(KEYS) or set(KEYS[:3]) - set(value):
        raise ValueError(
            f"{where}: use an object with {', '.join(KEYS[:3])} and, if need be, "
            f"{', '.join(KEYS[3:])}"
        )
    for key in ("question", "answer", "answer_kind", "id"):
        if not isinstance(value.get(key, ""), str):
            raise ValueError(f"{where}: {key} is not allowed; use a text")
    for key in ("aliases", "options"):
        items = value.get(key, [])
        if not (isinstance(items, list) and all(isinstance(item, str) for item in items)):
            raise ValueError(f"{where}: {key} is not allowed; use a list of texts")
    if not isinstance(value["given"], str | None):
        raise ValueError(f"{where}: given is not allowed; use a text or null")
    task = Task(
        id=value.get("id", default_id),
        skill="",
        question=value["question"],
        answer=value["answer"],
        answer_kind=value.get("answer_kind", "text"),
        metadata={key: value[key] for key in ("aliases", "options") if key in value},
    )
    return Sample(task=task, given=value["given"])
