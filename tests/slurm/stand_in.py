"""A stand-in for the project, without torch: a `train.py` that only counts, for tests of launching.

What is real: Slurm, submitit, the journal, the keeping of ranks, signals and requeueing. What is
not: the training, which here sleeps through its steps, writes an empty checkpoint after each and
ends with a summary. tests/slurm/test_training.py has the real one.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from toolorchestra.entry.snapshot import FOLDER
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.sweep import Point, Resources, Sweep, write_sweep

ROOT = Path(__file__).parents[2]
PROGRAM = """
import fcntl, json, os, pathlib, subprocess, sys, time

words = dict(word.partition("=")[::2] for word in sys.argv[1:])
run = pathlib.Path(words["hydra.run.dir"].strip("'"))
steps, pace = int(words.get("steps", 4)), float(words.get("pace", 0.3))
lock = (run / "run.json").open("a")
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
done = max((int(p.name[5:]) for p in (run / "checkpoints").glob("step_*")), default=0)
with (run / "begun.txt").open("a") as file:
    file.write(f"{os.getpid()} {done} {os.environ.get('SLURMD_NODENAME')}\\n")
if "orphans" in words:  # in sessions of their own, as vLLM's workers and theirs are
    subprocess.Popen(["sh", "-c", "sleep 98765; true"], start_new_session=True)
for step in range(done + 1, steps + 1):
    time.sleep(pace)
    if str(step) == words.get("fail_at"):
        print("error: no such thing"); sys.exit(1)
    if str(step) == words.get("die_at") and not (run / "died").exists():
        (run / "died").touch()
        os.kill(os.getpid(), 9)
    with (run / "steps.txt").open("a") as file:
        file.write(f"{step}\\n")
    (run / f"checkpoints/step_{step:06d}").mkdir(parents=True)
    print("step", step, flush=True)
    if (run / "stop").exists():
        (run / "stop").unlink()
        sys.exit(75)
summary = {"config": {"seed": words.get("seed")}, "metrics": {}}
(run / "summary.json").write_text(json.dumps(summary))
"""


def make_sweep(
    folder: Path, *points: tuple[str, ...], resources: Resources | None = None, **options: object
) -> Sweep:
    """Writes a sweep of the stand-in to `folder`, ready to be submitted."""
    code = folder / FOLDER
    code.mkdir(parents=True)
    (code / "train.py").write_text(PROGRAM)
    (code / "src").symlink_to(ROOT / "src")
    usual: dict[str, object] = {
        "kind": "slurm", "poll_s": 0.5, "time_min": 30, "signal_s": 60, "stop_within_s": 20,
        "partition": "main", "mem_gb": 0.5,
    }  # fmt: skip
    sweep = Sweep(
        command=" ".join(sys.argv),
        submitted_at=time.time(),
        group="stand-in",
        launcher=LauncherConfig(**{**usual, **options}),  # type: ignore[arg-type]
        resources=resources or Resources(),
        points=tuple(Point(number=i, overrides=words) for i, words in enumerate(points)),
    )
    for point in sweep.points:
        (folder / str(point.number)).mkdir()
    write_sweep(folder, sweep)
    return sweep


def steps_of(folder: Path, number: int = 0) -> list[int]:
    """Steps that a point has done, in order, those done twice too."""
    return [int(line) for line in (folder / str(number) / "steps.txt").read_text().split()]


def attempts_of(folder: Path, number: int = 0) -> list[tuple[int, int, str]]:
    """Process, first step and node of each time that a point's training was begun."""
    path = folder / str(number) / "begun.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(pid), int(step), node) for pid, step, node in map(str.split, lines)]
