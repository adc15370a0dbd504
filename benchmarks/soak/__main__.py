"""Forty short points on the development cluster, with a fault every few seconds.

make slurm-up && python -m benchmarks.soak
"""

from __future__ import annotations

import argparse
import collections
import random
import subprocess
import sys
import time
from pathlib import Path

import psutil

from benchmarks.soak.faults import FAULTS
from toolorchestra.launch.cluster import SlurmCluster
from toolorchestra.launch.job.journal import FINISHED, STARTED, Journal
from toolorchestra.launch.status import PointStatus, statuses
from toolorchestra.launch.sweep import FILE, read_sweep
from toolorchestra.report.table import Table

ROOT = Path(__file__).parents[2]
NUM_STEPS = 6
SHORT = (
    f"trainer.max_steps={NUM_STEPS}",
    "trainer.episodes_per_step=2",
    "trainer.checkpoint_every=1",
    "benchmark=none",
    "launcher=slurm_dev",
    "launcher.max_parallel=4",
    # killing is what is tried here: only a point that gets nowhere for long is given up
    "launcher.max_idle_restarts=20",
)
PAUSES_S = (5.0, 20.0)
START_S, END_S = 120.0, 60.0


def main() -> None:
    """Runs the soak and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=15.0, help="of faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("outputs/soak"))
    asked = parser.parse_args()
    folder = asked.folder.resolve() / time.strftime("%Y-%m-%d_%H-%M-%S")
    folder.mkdir(parents=True)
    start_s = time.monotonic()
    log = folder / "launcher.txt"
    seeds = ",".join(str(seed) for seed in range(1, asked.points + 1))
    with log.open("w") as output:
        launcher = subprocess.Popen(
            [sys.executable, "train.py", f"seed={seeds}", *SHORT, f"hydra.sweep.dir={folder}/sweep",
             f"output_root={folder}"],
            cwd=ROOT, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    injected = _inject(folder / "sweep", launcher, random.Random(asked.seed), asked.minutes)
    status = launcher.wait()
    _await_ends(folder / "sweep")
    minutes = (time.monotonic() - start_s) / 60
    table = _table(folder / "sweep", injected, minutes)
    print(table.to_markdown(), f"\nexit status of the launcher: {status}; its log: {log}")
    (folder / "soak.md").write_text(table.to_markdown())


def _inject(
    sweep: Path, launcher: subprocess.Popen[bytes], rng: random.Random, minutes: float
) -> collections.Counter[str]:
    """Does harm until the time is over or all points have ended; how often each kind was done."""
    deadline = time.monotonic() + START_S
    while not (sweep / FILE).exists() and time.monotonic() < deadline:
        time.sleep(0.5)
    injected: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end and launcher.poll() is None:
        time.sleep(rng.uniform(*PAUSES_S))
        busy = [s for s in _look(sweep) if s.state == "running"]
        if not busy:
            continue
        name = rng.choice(sorted(FAULTS))
        victim = rng.choice(busy)
        if FAULTS[name](victim):
            injected[name] += 1
            print(f"{time.strftime('%H:%M:%S')} point {victim.point.number}: {name}", flush=True)
    return injected


def _look(sweep: Path) -> list[PointStatus]:
    try:
        return statuses(sweep, read_sweep(sweep), SlurmCluster())
    except ConnectionError:
        return []


def _await_ends(sweep: Path) -> None:
    """A point is finished some moments before its job has ended."""
    jobs = [job_id for point in read_sweep(sweep).points for job_id in point.job_ids]
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        if all(state.kind == "ended" for state in SlurmCluster().states(jobs).values()):
            return
        time.sleep(1.0)


def _table(sweep: Path, injected: collections.Counter[str], minutes: float) -> Table:
    points = statuses(sweep, read_sweep(sweep), SlurmCluster())
    finished = [status for status in points if status.state == FINISHED]
    attempts = sum(event.kind == STARTED for s in points for event in Journal(s.run_dir).read())
    orphans = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if any(str(sweep) in word for word in process.info["cmdline"] or [])
    ]
    rows = [
        *((f"faults: {name}", count) for name, count in sorted(injected.items())),
        ("faults in all", sum(injected.values())),
        ("points", len(points)),
        ("attempts", attempts),
        ("points finished", len(finished)),
        ("points lost", len(points) - len(finished)),
        ("W&B runs beyond one a point", sum(_num_wandb_runs(s.run_dir) - 1 for s in finished)),
        ("steps missing or double in metrics.csv", sum(map(_num_wrong_steps, finished))),
        ("orphan processes", len(orphans)),
        ("minutes", round(minutes)),
    ]
    return Table(
        title="Soak on the development cluster", columns=("what", "count"), rows=tuple(rows)
    )


def _num_wandb_runs(run_dir: Path) -> int:
    """Different ids among a run's offline files."""
    return len({path.name.rpartition("-")[2] for path in run_dir.glob("wandb/offline-run-*")})


def _num_wrong_steps(status: PointStatus) -> int:
    lines = (status.run_dir / "metrics.csv").read_text().splitlines()[1:]
    steps = [int(line.partition(",")[0]) for line in lines]
    return len(set(range(NUM_STEPS)) ^ set(steps)) + len(steps) - len(set(steps))


if __name__ == "__main__":
    main()
