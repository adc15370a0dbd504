"""Compares the policies of two runs, or two of one run, on the episodes that both played."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from toolorchestra.command.written import keep_table
from toolorchestra.report.evaluation import POLICY, SIMULATED_NOTE, TRAINED
from toolorchestra.report.measures.attempt import Attempt, read_attempts
from toolorchestra.report.paired import compare_pairs, paired_table
from toolorchestra.report.pairing import Side, pair_episodes
from toolorchestra.report.shown import show_table

SUBJECTS = (TRAINED, POLICY)
"""Whom a run is about, whichever it has."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what `report.py compare` takes, and that `run` does it."""
    parser.add_argument("run_a", type=Path, metavar="RUN_A", help="folder of the first run")
    parser.add_argument("run_b", type=Path, metavar="RUN_B", help="of the second; may be the same")
    whom = 'by default "trained", or "policy" where that is not there'
    parser.add_argument("--policy", metavar="NAME", help=f"whom of RUN_A to compare: {whom}")
    parser.add_argument("--against", metavar="NAME", help=f"with whom of RUN_B: {whom}")
    parser.add_argument(
        "--shared",
        action="store_true",
        help="compare the episodes that both played, though one has others too",
    )
    parser.add_argument("--seed", type=int, default=0, help="of bootstraps and permutations")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where compare.md, .csv and .tex go: by default the folder of RUN_A",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compares, prints and writes; returns the exit status.

    Raises:
        ValueError: A folder holds no evaluation, a policy is not in it, or the runs do not share
            their episodes.
    """
    logs = [list(read_attempts(folder)) for folder in (arguments.run_a, arguments.run_b)]
    names = _names(arguments.run_a, arguments.run_b)
    wanted = (arguments.policy, arguments.against)
    ours, theirs = (
        _of(_side(name, folder, log, policy))
        for name, folder, log, policy in zip(
            names, (arguments.run_a, arguments.run_b), logs, wanted, strict=True
        )
    )
    compared = []
    for world, other in _worlds(ours, theirs):
        left, right = ours[world], theirs[other]
        pairs = pair_episodes(left, right, is_shared_enough=arguments.shared)
        compared.append(compare_pairs(world, pairs, seed=arguments.seed))
    first, second = next(iter(ours.values())), next(iter(theirs.values()))
    is_simulated = any(item.is_simulated for log in logs for item in log)
    note = SIMULATED_NOTE if is_simulated else ""
    table = paired_table(first, second, compared, note=note)
    out = arguments.out or arguments.run_a
    keep_table(table, out / "compare")
    show_table(table)
    print(f"kept in {out / 'compare.md'}, compare.csv and compare.tex", flush=True)
    return 0


def _names(first: Path, second: Path) -> tuple[str, str]:
    """What tells the two folders apart: their names, or more of their paths."""
    one, two = first.resolve().parts, second.resolve().parts
    for length in range(1, max(len(one), len(two))):
        if one[-length:] != two[-length:] or one == two:
            return "/".join(one[-length:]), "/".join(two[-length:])
    return str(first), str(second)


def _side(name: str, folder: Path, log: Sequence[Attempt], policy: str | None) -> Side:
    found = list(dict.fromkeys(item.policy for item in log))
    chosen = policy or next((subject for subject in SUBJECTS if subject in found), None)
    if chosen is None or chosen not in found:
        asked = f"no policy {policy}" if policy else "neither a trained nor an evaluated policy"
        raise ValueError(
            f"{folder} has {asked}; name one with --policy or --against: {', '.join(found)}"
        )
    own = tuple(item for item in log if item.policy == chosen)
    return Side(run=name, policy=chosen, attempts=own)


def _of(side: Side) -> dict[str, Side]:
    """What was played, by world."""
    return {
        world: Side(
            run=side.run,
            policy=side.policy,
            attempts=tuple(item for item in side.attempts if item.world == world),
        )
        for world in dict.fromkeys(item.world for item in side.attempts)
    }


def _worlds(ours: dict[str, Side], theirs: dict[str, Side]) -> list[tuple[str, str]]:
    """Worlds of both by name; else the two that have the most tasks in common.

    A training's "seen" world is one that an evaluation calls by its benchmark's name.
    """
    if shared := [(world, world) for world in ours if world in theirs]:
        return shared
    counts = Counter(
        {
            (left, right): len(_tasks(ours[left]) & _tasks(theirs[right]))
            for left in ours
            for right in theirs
        }
    )
    return [counts.most_common(1)[0][0]]


def _tasks(side: Side) -> set[str]:
    return {item.digest.task for item in side.attempts}
