"""The servers that were submitted, as a file in the folder where they register."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.codec import from_json, to_json
from toolorchestra.launch.cluster import JobState, cluster_of
from toolorchestra.report.files import replace_text

FILE = "servers.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replica:
    """One server, by the job that keeps it."""

    service: str
    number: int
    """Among the replicas of its service, from 0."""
    kind: str
    """The launcher's: local or slurm."""
    job_id: str
    log: str
    """What keeper and server say."""
    gpus: tuple[int, ...] = ()
    """Of this machine, with launcher=local."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What `FILE` holds."""

    servers: tuple[Replica, ...]


def read_replicas(folder: Path) -> tuple[Replica, ...]:
    """All that were submitted and not stopped.

    Raises:
        ValueError: The file is damaged.
    """
    path = folder / FILE
    try:
        return from_json(Record, json.loads(path.read_text())).servers
    except FileNotFoundError:
        return ()
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path} is damaged ({error}); end the jobs by scancel, and remove it"
        ) from error


def write_replicas(folder: Path, replicas: Iterable[Replica]) -> None:
    """Puts these in place of what the file says."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(to_json(Record(servers=tuple(replicas))), indent=1)
    replace_text(folder / FILE, text + "\n")


def job_states(replicas: Iterable[Replica]) -> Mapping[str, JobState]:
    """How the jobs fare, by their ids.

    Raises:
        ConnectionError: The cluster does not answer at the moment.
    """
    states: dict[str, JobState] = {}
    asked = tuple(replicas)
    for kind in sorted({replica.kind for replica in asked}):
        states |= cluster_of(kind).states([r.job_id for r in asked if r.kind == kind])
    return states
