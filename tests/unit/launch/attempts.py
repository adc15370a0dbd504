"""Attempts at a point, with shell scripts in place of training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.child import Child
from toolorchestra.launch.job.first_rank import FirstRank
from toolorchestra.launch.job.journal import Event, Journal
from toolorchestra.launch.job.other_rank import OtherRank
from toolorchestra.launch.job.place import Place

ATTEMPT = "7#0"
HEARS = "until [ -e stop ]; do sleep 0.01; done; rm stop; exit 75"
"""Ends as training does that is asked to stop."""
LOCAL = {"SUBMITIT_EXECUTOR": "local", "SUBMITIT_LOCAL_JOB_ID": "7"}
AGAIN = 144
"""With this status submitit's local executor is asked to start a job again."""


def place_of(**changes: Any) -> Place:
    fields: dict[str, Any] = {
        "job_id": "7", "attempt": ATTEMPT, "rank": 0, "local_rank": 0, "node": 0, "num_ranks": 1,
        "host": "n1",
    }  # fmt: skip
    return Place(**(fields | changes))


def start(run_dir: Path, script: str, env: dict[str, str]) -> Child:
    return Child(["sh", "-c", script], env=env, cwd=run_dir, log=run_dir / "job/log.txt")


def first_rank(run_dir: Path, script: str, *, place: Place | None = None, **options: Any) -> Any:
    return FirstRank(
        run_dir,
        LauncherConfig(**({"kind": "local", "stop_within_s": 20} | options)),
        place or place_of(),
        start=lambda env: start(run_dir, script, env),
    )


def other_rank(run_dir: Path, script: str, *, rank: int = 1) -> Any:
    place = place_of(rank=rank, local_rank=rank, num_ranks=2)
    return OtherRank(run_dir, place, start=lambda env, _: start(run_dir, script, env))


def put_checkpoint(run_dir: Path, step: int) -> None:
    (run_dir / f"checkpoints/step_{step:06d}").mkdir(parents=True)


def events_of(run_dir: Path) -> list[tuple[str, int, str]]:
    """Kind, step and reason of all that is written of a point."""
    return [(event.kind, event.step, event.reason) for event in Journal(run_dir).read()]


def begun(run_dir: Path, attempt: str = ATTEMPT, **changes: Any) -> Event:
    """Writes that an attempt has begun."""
    Journal(run_dir).write("started", attempt, **({"step": 0, "host": "n1"} | changes))
    event = Journal(run_dir).last()
    assert event is not None
    return event


def adds(kind: str, attempt: str = ATTEMPT) -> str:
    """A shell line that adds an event to the journal, as another process would."""
    event = {"kind": kind, "attempt": attempt, "time_s": 1.0, "step": 0, "host": "n2", "port": 0,
             "reason": ""}  # fmt: skip
    return f"echo '{json.dumps(event)}' >> job/events.jsonl"
