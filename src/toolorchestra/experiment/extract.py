"""What is kept of a finished run: every figure that a table may need, in a file of some kilobytes.

A column of numbers a policy and world, one number a result, so that any mean, interval or paired
difference can be formed anew from what is committed, without the run.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result
from toolorchestra.codec import from_json, to_json
from toolorchestra.report.comparison import read_summary
from toolorchestra.report.files import replace_text
from toolorchestra.report.trajectories import EVALUATION_FILE, read_trials
from toolorchestra.reward.evaluate import relative_reward
from toolorchestra.types import Episode, Measures

DIGITS = 6
"""Significant ones that are kept."""
MODELS = ("trained", "policy")
"""What results call the model that a run is about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbers:
    """One policy's results in one world. None where a rollout is void or unscored."""

    episode: tuple[int, ...]
    """Of each result, as an index into the world's episodes."""
    is_solved: tuple[float | None, ...]
    utility: tuple[float | None, ...]
    cents: tuple[float | None, ...]
    seconds: tuple[float | None, ...]
    relative: tuple[float | None, ...]
    """R^e (Eq. 6) against the starting policy; empty where there is none to compare with."""
    calls: Mapping[str, tuple[int, ...]]
    """By tool: calls, and results whose episode offers it."""
    num_calls: int
    num_malformed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldNumbers:
    """All policies in one world."""

    episodes: tuple[str, ...]
    skills: tuple[str, ...]
    """Of each episode."""
    policies: Mapping[str, Numbers]


@dataclass(frozen=True, kw_only=True, slots=True)
class Extract:
    """What is kept of a run."""

    key: str
    """Of what it was to do: see `plan`."""
    command: str
    git_commit: str
    is_git_dirty: bool
    seconds: float
    choices: Mapping[str, str]
    """Options that it was run with, e.g. {"toolset": "unseen"}."""
    shown_as: Mapping[str, str]
    """By tool: its name in tables, which begins with sim/ where it is simulated."""
    worlds: Mapping[str, WorldNumbers]

    @property
    def is_simulated(self) -> bool:
        """Whether a simulator answered for any tool."""
        return any(name.startswith("sim/") for name in self.shown_as.values())


def extract(
    run_dir: Path, *, key: str, start_dir: Path | None = None, is_git_dirty: bool | None = None
) -> Extract:
    """Extracts a finished run.

    Args:
        run_dir: Its folder.
        key: Names what it was to do.
        start_dir: The run of the starting policy on the same episodes; None: `relative` is empty.
        is_git_dirty: Whether the code differs from its commit; None: as the run found it, whose
            view takes in results that were kept meanwhile.

    Raises:
        ValueError: The run is not finished or its files are damaged, or the other run played other
            episodes.
    """
    summary = read_summary(run_dir)
    record = json.loads((run_dir / "run.json").read_text(encoding="utf-8"))
    episodes = _episodes(run_dir)
    results = _results(run_dir)
    starts = None if start_dir is None else _starts(start_dir)
    worlds = {
        world: _world([r for r in results if r.world == world], episodes, starts)
        for world in dict.fromkeys(result.world for result in results)
    }
    return Extract(
        key=key,
        command=_portable(str(record["command"])),
        git_commit=str(record["git_commit"]),
        is_git_dirty=bool(record["is_git_dirty"]) if is_git_dirty is None else is_git_dirty,
        seconds=float(summary.metrics["seconds"]),
        choices={name: str(value) for name, value in summary.config.items()},
        shown_as={t.name: t.shown_as for e in episodes.values() for t in e.tools},
        worlds=worlds,
    )


def _portable(command: str) -> str:
    """A command line without where this machine has the script."""
    script, *words = shlex.split(command)
    return shlex.join([Path(script).name, *words])


def _episodes(run_dir: Path) -> dict[tuple[str, str], Episode]:
    """By world and id: two worlds number theirs alike."""
    trials = read_trials(run_dir / EVALUATION_FILE)
    return {(trial.result.world, trial.episode.id): trial.episode for trial in trials}


def _results(run_dir: Path) -> list[Result]:
    lines = (run_dir / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return [from_json(Result, json.loads(line)) for line in lines]


def _starts(run_dir: Path) -> dict[str, Measures]:
    """By episode: what the starting policy came to."""
    own = [result for result in _results(run_dir) if result.policy in MODELS]
    return {result.episode: found for result in own if (found := result.measures)}


def _world(
    results: Sequence[Result],
    episodes: Mapping[tuple[str, str], Episode],
    starts: Mapping[str, Measures] | None,
) -> WorldNumbers:
    skills = {result.episode: result.skill for result in results}
    index = {name: i for i, name in enumerate(skills)}
    policies = {}
    for policy in dict.fromkeys(result.policy for result in results):
        own = [result for result in results if result.policy == policy]
        relative = (
            [] if starts is None or policy == ORACLE_BOUND else _relative(own, episodes, starts)
        )
        policies[policy] = Numbers(
            episode=tuple(index[r.episode] for r in own),
            is_solved=_rounded([r.is_solved for r in own]),
            utility=_rounded([r.utility for r in own]),
            cents=_rounded([None if r.cost_usd is None else 100 * r.cost_usd for r in own]),
            seconds=_rounded([r.latency_s for r in own]),
            relative=_rounded(relative),
            calls=_calls(own),
            num_calls=sum(r.num_calls for r in own),
            num_malformed=sum(r.num_malformed for r in own),
        )
    return WorldNumbers(episodes=tuple(skills), skills=tuple(skills.values()), policies=policies)


def _relative(
    results: Sequence[Result],
    episodes: Mapping[tuple[str, str], Episode],
    starts: Mapping[str, Measures],
) -> list[float | None]:
    """R^e of each result; None where it or the starting policy's has no score.

    Raises:
        ValueError: The starting policy did not play these episodes, or with other tools.
    """
    out: list[float | None] = []
    for result in results:
        measures, start = result.measures, starts.get(result.episode)
        if measures is None or start is None:
            out.append(None)
        elif measures.tool_counts.keys() != start.tool_counts.keys():
            raise ValueError(f"relative_to: the run played other episodes ({result.episode})")
        else:
            wish = episodes[result.world, result.episode].preference
            out.append(relative_reward(measures, start, wish))
    return out


def _calls(results: Sequence[Result]) -> dict[str, tuple[int, ...]]:
    tools = sorted({name for result in results for name in result.tool_counts})
    counts = {t: [r.tool_counts[t] for r in results if t in r.tool_counts] for t in tools}
    return {tool: (sum(own), len(own)) for tool, own in counts.items()}


def _rounded(values: Sequence[float | None]) -> tuple[float | None, ...]:
    return tuple(None if v is None else float(f"{v:.{DIGITS}g}") for v in values)


def write_extract(path: Path, kept: Extract) -> None:
    """Writes it with a list a line, so that a change can be read."""
    replace_text(path, _lines(to_json(kept)) + "\n")


def _lines(value: Any, indent: int = 0) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    pad = " " * (indent + 1)
    items = [f"{pad}{json.dumps(key)}: {_lines(item, indent + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"


def read_extract(path: Path) -> Extract:
    """Reads what was kept.

    Raises:
        ValueError: The file is damaged, or of another version; says what to do.
    """
    try:
        return from_json(Extract, json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path}: {error}; remove it, and run its experiment again") from error
