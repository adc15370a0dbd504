"""A sweep that was submitted, as a file in its folder: its points, and the jobs that run them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolorchestra.codec import from_json, to_json
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.report.files import replace_text

FILE = "sweep.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One run of the sweep."""

    number: int
    """Also the name of its folder."""
    overrides: tuple[str, ...]
    """Of the command line, without those of the launcher and Hydra."""
    job_ids: tuple[str, ...] = ()
    """Jobs that were submitted for it, the newest last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resources:
    """What each job is given."""

    num_nodes: int = 1
    tasks_per_node: int = 1
    """Training ranks."""
    gpus_per_node: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Sweep:
    """What `FILE` holds."""

    command: str
    """By which it was submitted."""
    submitted_at: float
    """Seconds since 1970."""
    group: str
    """What gathers its runs in W&B."""
    launcher: LauncherConfig
    resources: Resources
    points: tuple[Point, ...]

    def submitted(self, job_ids: Mapping[int, str]) -> Sweep:
        """With one more job for each of some points."""
        return replace(
            self,
            points=tuple(
                replace(point, job_ids=(*point.job_ids, job_ids[point.number]))
                if point.number in job_ids
                else point
                for point in self.points
            ),
        )


def write_sweep(folder: Path, sweep: Sweep) -> None:
    """Writes a sweep to its folder, in place of what is there."""
    replace_text(folder / FILE, json.dumps(to_json(sweep), indent=1) + "\n")


def read_sweep(folder: Path) -> Sweep:
    """Reads a sweep.

    Raises:
        ValueError: The folder holds none, or the file is damaged.
    """
    path = folder / FILE
    try:
        return from_json(Sweep, json.loads(path.read_text()))
    except FileNotFoundError as error:
        raise ValueError(
            f"{folder} holds no submitted sweep; name the folder that the command printed"
        ) from error
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}); the points' own folders stand") from error


def run_dir_of(folder: Path, point: Point) -> Path:
    """Where a point writes."""
    return Path(os.path.abspath(folder)) / str(point.number)
