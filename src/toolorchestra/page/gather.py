"""Reads runs once, from front to back, and keeps what the page is made of.

A trajectory's body is compressed as soon as its chunk is full, so that memory holds the list of
trajectories and compressed text, never all rollouts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolorchestra.benchmark.evaluate import Result
from toolorchestra.page.attempts import read_attempts
from toolorchestra.page.blocks import pack
from toolorchestra.page.bodies import Bodies
from toolorchestra.page.index import Index
from toolorchestra.page.partial import partial_tables
from toolorchestra.page.run import RunFiles, check_is_run, read_files
from toolorchestra.page.sums import Sums
from toolorchestra.page.tokens import Pieces, find_tokenizer

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """All that a page shows."""

    title: str
    runs: Sequence[Any]
    index: Any
    chunks: Sequence[str]
    """Packed bodies."""


def gather(run_dirs: Sequence[Path]) -> Gathered:
    """Reads the runs, in the order given; a folder named twice counts once.

    Raises:
        ValueError: There are none or more than letters, or a folder holds no run.
    """
    run_dirs = list({path.resolve(): path for path in run_dirs}.values())
    if not 0 < len(run_dirs) <= len(LETTERS):
        raise ValueError(f"a report is of 1 to {len(LETTERS)} runs; got {len(run_dirs)}")
    for run_dir in run_dirs:
        check_is_run(run_dir)
    index, chunks = Index(), list[str]()
    bodies = Bodies(lambda text: chunks.append(pack(text)))
    names = _names(run_dirs)
    runs = []
    for number, (run_dir, name) in enumerate(zip(run_dirs, names, strict=True)):
        run = _run(number, run_dir, index, bodies)
        runs.append({"letter": LETTERS[number], "name": name, "folder": str(run_dir), **run})
    bodies.flush()
    return Gathered(title=", ".join(names), runs=runs, index=index.to_json(), chunks=chunks)


def _names(run_dirs: Sequence[Path]) -> list[str]:
    """Folders' names, as far up as it takes to tell them apart."""
    whole = [path.resolve() for path in run_dirs]
    if len(whole) == 1:
        return [whole[0].name]
    common = os.path.commonpath(whole)
    names = [os.path.relpath(path, common) for path in whole]
    return [path.name if name == "." else name for path, name in zip(whole, names, strict=True)]


def _run(number: int, run_dir: Path, index: Index, bodies: Bodies) -> dict[str, Any]:
    told: list[str] = []
    files = read_files(run_dir, told.append)
    path = find_tokenizer(run_dir, files.settings.get("model.path", ""))
    pieces = Pieces(path)
    sums: dict[tuple[str, str], Sums] = {}
    results: list[Result] = []
    is_simulated, num_before = False, len(index)
    for attempt in read_attempts(run_dir, told.append):
        chunk, position = bodies.add(attempt, pieces)
        index.add(number, attempt, chunk=chunk, position=position)
        key = attempt.policy, attempt.world
        sums.setdefault(key, Sums(policy=key[0], world=key[1])).add(attempt)
        if attempt.result is not None:
            results.append(attempt.result)
        is_simulated |= any(tool.shown_as.startswith("sim/") for tool in attempt.episode.tools)
    tables = list(files.tables)
    if not tables and results:
        told.append("The evaluation has not ended: its tables are of what was played so far.")
        tables = partial_tables(results, is_simulated=is_simulated)
    return {
        "state": files.state,
        "notes": [*told, *_missing(files, tables, len(index) - num_before)],
        "is_simulated": is_simulated,
        "described": files.described,
        "metrics": files.metrics,
        "tables": tables,
        "frontier": files.frontier,
        "settings": files.settings,
        "sums": [item.to_json() for item in sums.values()],
        "num_trajectories": len(index) - num_before,
    }


def _missing(files: RunFiles, tables: Sequence[Any], num_trajectories: int) -> list[str]:
    """A sentence on what a reader may look for in vain."""
    notes = []
    if not num_trajectories:
        notes.append("It has logged no trajectory.")
    if not files.metrics["steps"]:
        notes.append("It has no step of training, and so no curves.")
    if not tables:
        notes.append("It has no evaluation, and so no tables of results.")
    return notes
