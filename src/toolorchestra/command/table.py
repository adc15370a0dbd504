"""Renders the tables and pictures of experiments/, and makes the local world's runs they need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf

from toolorchestra.command.words import composed
from toolorchestra.entry.plainly import FAULT
from toolorchestra.entry.run_dir import config_digest
from toolorchestra.experiment.declared import Experiment, find_experiments, is_experiment
from toolorchestra.experiment.plan import SCALES, Job, Result, plan, to_make
from toolorchestra.experiment.render import render, take
from toolorchestra.experiment.work import Outcome, work
from toolorchestra.report.shown import show_table

PROJECT = Path(__file__).parents[3]
"""The project, as it is checked out."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what `report.py table` takes, and that `run` does it."""
    parser.add_argument(
        "folders",
        nargs="+",
        type=Path,
        metavar="FOLDER | RUN_DIR",
        help="experiments, or folders of it; behind one folder of it also finished runs of the "
        "real thing, whose figures are kept there",
    )
    parser.add_argument(
        "--make",
        action="store_true",
        help="first make the runs of the local world whose results are missing or stale",
    )
    parser.add_argument(
        "--jobs", type=int, default=2, help="runs at once, a core each (default: 2)"
    )
    parser.add_argument(
        "--scale",
        choices=tuple(SCALES),
        default="full",
        help="tiny: a step and two episodes a run, to see that all of it works",
    )
    parser.add_argument(
        "--out", type=Path, help="where tables go in place of the experiments' own folders"
    )
    parser.add_argument(
        "--start", type=Path, help="the starting policy's run on the same episodes (Table 3)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Makes runs if asked to, renders and prints; returns the exit status.

    Raises:
        ValueError: A folder or an option is not allowed, or a file is damaged.
    """
    folder, *run_dirs = arguments.folders
    is_tiny = arguments.scale != "full"
    if is_tiny and arguments.out is None:
        raise ValueError("--scale tiny: results would replace real ones; use --out FOLDER as well")
    if arguments.jobs < 1:
        raise ValueError(f"--jobs: {arguments.jobs} is not allowed; use a whole number from 1")
    experiments = _experiments([folder, *(path for path in run_dirs if _declares(path))])
    for path in run_dirs:
        if not _declares(path):
            _take(experiments, path, start_dir=arguments.start)
    outcome, stale = _make(experiments, arguments) if arguments.make else (Outcome(), [])
    for experiment in experiments:
        old = [item.run for item in stale if item.experiment == experiment.name]
        for table in render(experiment, out=arguments.out, stale=old):
            if not arguments.make:
                show_table(table)
    return _tell(outcome, experiments, arguments)


def _declares(path: Path) -> bool:
    return is_experiment(path) or any(path.glob("*/experiment.yaml"))


def _experiments(folders: Sequence[Path]) -> list[Experiment]:
    found = [experiment for folder in folders for experiment in find_experiments(folder)]
    return list({experiment.folder: experiment for experiment in found}.values())


def _take(experiments: Sequence[Experiment], run_dir: Path, *, start_dir: Path | None) -> None:
    if len(experiments) != 1:
        raise ValueError(f"{run_dir}: which table is it for? name one folder of experiments/")
    print(f"kept {take(experiments[0], run_dir, start_dir=start_dir)}", flush=True)


def _make(
    experiments: Sequence[Experiment], arguments: argparse.Namespace
) -> tuple[Outcome, list[Result]]:
    """Makes what is missing or stale; returns what became of it, and what still is so."""
    num_runs = sum(len(experiment.local.runs) for experiment in experiments)
    print(f"composing the configs of {num_runs} runs, to see which results are stale", flush=True)
    root = Path("outputs/tables") if arguments.out is None else arguments.out / "runs"
    jobs = plan(experiments, digest=digest, scale=arguments.scale, root=root, out=arguments.out)
    wanted = to_make(jobs)
    for job in jobs.values():
        if job.stale and not job.is_possible:
            print(f"left out {job.name}: it needs {job.needs}, which is not installed", flush=True)
    print(_plan_told(jobs, wanted, num_parallel=arguments.jobs), flush=True)
    outcome = work(
        wanted,
        root=root,
        project=PROJECT,
        num_parallel=arguments.jobs,
        tell=lambda text: print(text, flush=True),
    )
    return outcome, [item for job in jobs.values() for item in job.stale]


def _plan_told(jobs: dict[str, Job], wanted: Sequence[Job], *, num_parallel: int) -> str:
    minutes = sum(job.minutes for job in wanted if not job.is_finished) / num_parallel
    return (
        f"{len(jobs)} runs; {len(jobs) - len(wanted)} need nothing, {len(wanted)} are to be made: "
        f"about {minutes:.0f} min, {num_parallel} at once"
    )


def _tell(
    outcome: Outcome, experiments: Sequence[Experiment], arguments: argparse.Namespace
) -> int:
    places = ", ".join(str((arguments.out or e.home.parent) / e.name) for e in experiments)
    print(f"kept in {places}: table.md, .tex and .csv, of the local world in local/", flush=True)
    if not outcome.failures:
        return 0
    print(
        f"error: {len(outcome.failures)} runs failed; the same command tries them again:",
        *(f"  {name}: {reason}" for name, reason in outcome.failures.items()),
        sep="\n",
        file=sys.stderr,
    )
    return FAULT


def digest(command: str, words: Sequence[str]) -> str:
    """Of the resolved config that a command composes from its words.

    Raises:
        ValueError: It does not compose; says which words.
    """
    overrides = ["output_dir=unused", *words]
    try:
        return composed(command, overrides, _digest_of, advice="what conf/ has")
    except ValueError as error:
        raise ValueError(f"{command}.py {' '.join(words)}: {error}") from error


def _digest_of(config: DictConfig) -> str:
    return config_digest(cast(dict[str, Any], OmegaConf.to_container(config, resolve=True)))
