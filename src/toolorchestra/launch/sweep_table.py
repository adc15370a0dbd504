"""Prints and keeps one table over the points of a sweep when the last of them has ended.

A point that fails does not end the sweep: its fault is told at once, the others go on, and the
command ends with an exit status that is not 0.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from toolorchestra.entry.plainly import FAULT, explain, tell


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One point of a sweep that has ended."""

    name: str
    """Its number and its overrides."""
    run_dir: Path | None
    """None where it failed."""
    reason: str = ""
    """Why it failed."""


class SweepTable(Callback):
    """A Hydra callback, set in conf/train.yaml."""

    def __init__(self) -> None:
        self._points: list[Point] = []

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """Takes down how a point ended."""
        if config.hydra.mode != RunMode.MULTIRUN:
            return
        name = f"point {config.hydra.job.num} ({config.hydra.job.override_dirname})"
        try:
            self._points.append(Point(name=name, run_dir=job_return.return_value))
        except Exception as error:  # whatever ended this point, the others go on
            tell(error, prefix=name)
            reason = explain(error) or repr(error)
            self._points.append(Point(name=name, run_dir=None, reason=reason))
            # Hydra raises the fault of a failed job before any table can be made
            job_return.return_value, job_return.status = None, JobStatus.COMPLETED

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Compares the points that finished and names those that failed.

        Raises:
            SystemExit: with a status that is not 0, if any failed.
        """
        from rich.console import Console

        from toolorchestra.report.comparison import compare
        from toolorchestra.report.written import write_table

        folder = Path(config.hydra.sweep.dir)
        finished = [point.run_dir for point in self._points if point.run_dir is not None]
        failed = [point for point in self._points if point.run_dir is None]
        if finished:
            table = compare(finished)
            write_table(table, folder / "comparison")
            Console(width=None if sys.stdout.isatty() else 160).print(table.to_rich())
            print(f"kept in {folder / 'comparison.md'}", flush=True)
        if failed:
            print(
                f"error: {len(failed)} of {len(self._points)} points did not finish:",
                *(f"  {point.name}: {point.reason}" for point in failed),
                sep="\n",
                file=sys.stderr,
            )
            sys.exit(FAULT)
