"""Accuracy over cost by turns allowed (Figure 6), of one greedy run, or of one run for each limit.

python evaluate.py rollout.max_turns=10,20,50,100 -m && python report.py turns SWEEP/*/
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from omegaconf import OmegaConf

from toolorchestra.command.written import keep_table
from toolorchestra.entry.run_dir import CONFIG_FILE
from toolorchestra.report.evaluation import SIMULATED_NOTE
from toolorchestra.report.measures.attempt import Attempt, read_attempts
from toolorchestra.report.measures.figures import draw_turn_curves
from toolorchestra.report.measures.turns import (
    DERIVED,
    LIMITS,
    SEPARATE,
    TurnPoint,
    derived_points,
    separate_points,
    turns_table,
)
from toolorchestra.report.shown import show_table


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRun:
    """A run, and what it was played with."""

    folder: Path
    max_turns: int
    is_greedy: bool
    attempts: tuple[Attempt, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what `report.py turns` takes, and that `run` does it."""
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN_DIR",
        help="one greedy run, from which figures are derived, or one for each rollout.max_turns",
    )
    parser.add_argument(
        "--limits",
        type=_limits,
        metavar="N,N",
        help=f"turns to derive figures for: by default {','.join(map(str, LIMITS))}",
    )
    parser.add_argument("--world", help="as tables call it; by default the first of the run")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where turns.md, .csv, .tex and .png go: by default the folder of the first run",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Derives or gathers, prints, writes and draws; returns the exit status.

    Raises:
        ValueError: A folder holds no evaluation, the one run is no greedy one, several share a
            limit or differ in their tasks, or the world is not there.
    """
    runs = [_read(folder) for folder in arguments.runs]
    world = arguments.world or runs[0].attempts[0].world
    source, points = _points(runs, world, arguments.limits)
    is_simulated = any(item.is_simulated for found in runs for item in found.attempts)
    note = SIMULATED_NOTE if is_simulated else ""
    table = turns_table(points, source=source, world=world, note=note)
    out = arguments.out or runs[0].folder
    keep_table(table, out / "turns")
    title = f"{world} world: by turns allowed ({source})"
    draw_turn_curves(points, out / "turns.png", title=title, is_simulated=is_simulated)
    show_table(table)
    print(f"kept in {out / 'turns.md'}, turns.csv, turns.tex and turns.png", flush=True)
    return 0


def _points(
    runs: Sequence[TurnRun], world: str, limits: Sequence[int] | None
) -> tuple[str, list[TurnPoint]]:
    """Where the figures come from, and the figures."""
    played = {found.folder: _in(found, world) for found in runs}
    if len(runs) == 1:
        (only,) = runs
        if not only.is_greedy:
            raise ValueError(
                f"{only.folder} was sampled (benchmark.is_greedy=false), so nothing is derived "
                "from it; give one run for each rollout.max_turns"
            )
        attempts = played[only.folder]
        points = derived_points(attempts, max_turns=only.max_turns, limits=limits or LIMITS)
        return DERIVED, points
    if limits:
        raise ValueError("--limits: not allowed with several runs, each of which has its own")
    _check_alike(runs, world)
    return SEPARATE, separate_points({found.max_turns: played[found.folder] for found in runs})


def _check_alike(runs: Sequence[TurnRun], world: str) -> None:
    """Separate runs have separate limits and the same episodes."""
    by_limit: dict[int, Path] = {}
    for found in runs:
        if found.max_turns in by_limit:
            raise ValueError(
                f"{by_limit[found.max_turns]} and {found.folder} both have rollout.max_turns="
                f"{found.max_turns}; give one run for each limit"
            )
        by_limit[found.max_turns] = found.folder
    first = {(item.episode, item.digest) for item in _in(runs[0], world)}
    for found in runs[1:]:
        other = {(item.episode, item.digest) for item in _in(found, world)}
        if other != first:
            raise ValueError(
                f"{runs[0].folder} and {found.folder} share {len(first & other)} of {len(first)} "
                f"and {len(other)} episodes; use runs that differ in rollout.max_turns alone"
            )


def _read(folder: Path) -> TurnRun:
    attempts = tuple(read_attempts(folder))
    if not attempts:
        raise ValueError(f"{folder} holds no trial yet; use a run that has ended")
    path = folder / CONFIG_FILE
    if not path.exists():
        raise ValueError(
            f"{path} does not exist; use the folder of a run of evaluate.py or train.py"
        )
    config = OmegaConf.load(path)
    return TurnRun(
        folder=folder,
        max_turns=int(OmegaConf.select(config, "rollout.max_turns", throw_on_missing=True)),
        is_greedy=bool(OmegaConf.select(config, "benchmark.is_greedy", throw_on_missing=True)),
        attempts=attempts,
    )


def _in(found: TurnRun, world: str) -> list[Attempt]:
    own = [item for item in found.attempts if item.world == world]
    if not own:
        worlds = ", ".join(dict.fromkeys(item.world for item in found.attempts))
        raise ValueError(f"--world: {found.folder} has no world {world!r}; it has {worlds}")
    return own


def _limits(text: str) -> list[int]:
    limits = sorted({int(word) for word in text.split(",")})
    if limits[0] < 1:
        raise argparse.ArgumentTypeError(f"{text} is not allowed; use whole numbers from 1")
    return limits
