"""Runs jobs as processes, so many at once; one that fails leaves the others alone.

Whatever ends the work, the same call takes up again: a training goes on from its last checkpoint,
an evaluation that was broken off is repeated, and what is finished is not run again.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from toolorchestra.experiment.extract import extract, write_extract
from toolorchestra.experiment.plan import Job
from toolorchestra.process import dies_with_parent

POLL_S = 0.05
PATIENCE = 10
"""A run that takes so many times as long as reckoned hangs, and is ended."""
LEAST_PATIENCE_MIN = 30.0


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What became of the jobs."""

    num_done: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    """By job: why."""


@dataclass(kw_only=True, slots=True)
class _Process:
    job: Job
    process: subprocess.Popen[bytes]
    log: Path
    begun_s: float

    def has_ended(self) -> bool:
        """Whether it has, be it because it hung."""
        minutes = (time.monotonic() - self.begun_s) / 60
        if minutes > max(LEAST_PATIENCE_MIN, PATIENCE * self.job.minutes):
            with self.log.open("ab") as file:
                file.write(f"\nended after {minutes:.0f} min, as it seemed to hang\n".encode())
            self.process.kill()
            self.process.wait()
        return self.process.poll() is not None


def work(
    jobs: Sequence[Job],
    *,
    root: Path,
    project: Path,
    num_parallel: int,
    tell: Callable[[str], None],
) -> Outcome:
    """Makes what has to be made, and keeps the results as they come.

    Args:
        jobs: In an order in which each stands after those that it builds on.
        root: Below it lie the folders of the runs.
        project: Where train.py and evaluate.py are.
        num_parallel: Jobs at once, each of them on one core.
        tell: Hears of progress.

    Raises:
        ValueError: Another process is at work below `root`.
    """
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(f"{root}: another process makes tables there; wait for it") from error
        return _Crew(jobs, project=project, num_parallel=num_parallel, tell=tell).work()


class _Crew:
    """The jobs that wait and those that are in hand."""

    def __init__(
        self,
        jobs: Sequence[Job],
        *,
        project: Path,
        num_parallel: int,
        tell: Callable[[str], None],
    ) -> None:
        self._waiting = sorted(jobs, key=lambda job: -_weight(job, jobs))
        self._by_key = {job.key: job for job in jobs}
        self._num_jobs = len(jobs)
        self._project, self._num_parallel, self._tell = project, num_parallel, tell
        self._is_dirty = _is_code_changed(project)
        self._running: list[_Process] = []
        self._outcome = Outcome()

    def work(self) -> Outcome:
        try:
            while self._waiting or self._running:
                self._begin()
                time.sleep(POLL_S)
                for item in list(self._running):
                    if item.has_ended():
                        self._running.remove(item)
                        self._end(item)
        finally:
            for item in self._running:
                item.process.kill()
                item.process.wait()
        return self._outcome

    def _begin(self) -> None:
        for job in list(self._waiting):
            lost = [key for key in job.after if self._is_lost(key)]
            if lost:
                self._waiting.remove(job)
                self._fail(job, f"it builds on {self._by_key[lost[0]].name}, which is not finished")
            elif len(self._running) < self._num_parallel and not self._is_held_up(job):
                self._waiting.remove(job)
                if job.is_finished:
                    self._keep(job, "was finished before")
                else:
                    self._running.append(self._start(job))

    def _is_held_up(self, job: Job) -> bool:
        pending = {j.key for j in self._waiting} | {item.job.key for item in self._running}
        return any(key in pending for key in job.after)

    def _is_lost(self, key: str) -> bool:
        job = self._by_key.get(key)
        return job is not None and job.name in self._outcome.failures

    def _start(self, job: Job) -> _Process:
        words = [f"hydra.run.dir={job.run_dir}"]
        if job.run_dir.exists():
            if (job.run_dir / "run.json").exists():
                words.append(f"resume={job.run_dir}")
            else:
                shutil.rmtree(job.run_dir)
        log = job.run_dir.with_suffix(".log")
        with log.open("ab") as file:
            process = self._spawn(
                [str(self._project / f"{job.command}.py"), *job.words, *words], file
            )
        self._tell(f"begun  {job.name}, about {job.minutes:g} min: {log}")
        return _Process(job=job, process=process, log=log, begun_s=time.monotonic())

    def _spawn(self, words: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        source = str(self._project / "src")
        path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(
            [*dies_with_parent("KILL"), sys.executable, *words],  # else two would write to a folder
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )

    def _end(self, item: _Process) -> None:
        seconds = time.monotonic() - item.begun_s
        if item.process.returncode != 0 or not item.job.is_finished:
            said = item.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            reason = said[-1] if said else f"exit status {item.process.returncode}"
            self._fail(item.job, f"{reason} (all of it: {item.log})")
        else:
            self._keep(item.job, f"took {seconds:.0f} s")

    def _keep(self, job: Job, how: str) -> None:
        try:
            start = job.run_dir.with_name(job.start) if job.start else None
            kept = extract(job.run_dir, key=job.key, start_dir=start, is_git_dirty=self._is_dirty)
            for result in job.results:
                write_extract(result.path, kept)
        except (OSError, ValueError, KeyError) as error:
            self._fail(job, f"its results cannot be read ({error}); remove {job.run_dir}")
            return
        self._outcome.num_done += 1
        self._tell(f"done   {job.name}, {how}; {self._left()}")

    def _fail(self, job: Job, reason: str) -> None:
        self._outcome.failures[job.name] = reason
        self._tell(f"failed {job.name}: {reason}")

    def _left(self) -> str:
        left = [*self._waiting, *(item.job for item in self._running)]
        minutes = sum(job.minutes for job in left) / self._num_parallel
        return f"{len(left)} of {self._num_jobs} left, about {minutes:.0f} min"


def _is_code_changed(project: Path) -> bool:
    """Whether the code differs from its commit; what is kept in experiments/ does not count."""
    command = ["git", "status", "--porcelain", "--", "src", "conf", "train.py", "evaluate.py"]
    try:
        done = subprocess.run(command, cwd=project, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return True  # no checkout
    return bool(done.stdout.strip())


def _weight(job: Job, jobs: Sequence[Job]) -> float:
    """Minutes until the last job that builds on it could end: the longest way goes first."""
    return job.minutes + max((_weight(j, jobs) for j in jobs if job.key in j.after), default=0.0)
