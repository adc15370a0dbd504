"""The real training on a real Slurm: ranks on several nodes, and a disturbed sweep's curves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.test_ranks import TWO_RANKS
from tests.integration.test_resume import rows
from tests.slurm.conftest import until
from tests.slurm.stand_in import ROOT
from tests.slurm.sweeps import kinds, preempting, run

from toolorchestra.launch.sweep import read_sweep
from toolorchestra.trainer.checkpoint import newest_step

STEPS = 5
SMALL = (
    f"trainer.max_steps={STEPS}",
    "trainer.episodes_per_step=2",
    "trainer.checkpoint_every=1",
    "rollout.batch_wait_s=600",
    "benchmark=none",
)
PATIENCE_S = 600.0


class Train:
    """A command `python train.py …` that launches a sweep."""

    def __init__(self, folder: Path, *overrides: str) -> None:
        self.sweep = folder / "sweep"
        self._log = folder / "launcher.txt"
        with self._log.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "train.py", *overrides, f"output_root={folder}",
                 f"hydra.sweep.dir={self.sweep}"],
                cwd=ROOT, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def wait(self) -> str:
        """Waits for its end; what it has printed."""
        self.process.wait(PATIENCE_S)
        return self._log.read_text()


@pytest.fixture
def train(tmp_path):
    """`train(*overrides)`: launches; what still runs when the test ends is cancelled."""
    begun = []

    def launch(*overrides):
        folder = tmp_path / str(len(begun))
        folder.mkdir()
        begun.append(Train(folder, *overrides))
        return begun[-1]

    yield launch
    for command in begun:
        command.process.kill()
        subprocess.run(["scancel", "--name=toolorchestra-sweep"], check=False)


def close(ours: list[dict[str, str]], theirs: list[dict[str, str]]) -> bool:
    keys = ("reward/mean", "update/loss", "update/grad_norm", "version")
    pairs = [
        (float(a[k] or 0), float(b[k] or 0))
        for a, b in zip(ours, theirs, strict=True)
        for k in keys
    ]
    return all(a == pytest.approx(b, rel=1e-3, abs=1e-5) for a, b in pairs)


def test_two_nodes_of_two_ranks_train_what_two_ranks_of_one_machine_train(train):
    wide = [word for word in TWO_RANKS if not word.startswith("trainer.num_threads")]
    sweep = train(*wide, "trainer.num_nodes=2", "launcher=slurm_dev")
    out = sweep.wait()
    assert sweep.process.returncode == 0, out
    logs = sorted(path.name for path in (sweep.sweep / "0/job").glob("*.txt"))
    assert logs == ["log.txt", "rank_1.txt", "rank_2.txt", "rank_3.txt"]
    (event, *_) = map(json.loads, (sweep.sweep / "0/job/events.jsonl").read_text().splitlines())
    assert event["host"] in ("n1", "n2")

    single = train(
        *[w for w in wide if "strategy" not in w and "devices" not in w and "zero" not in w],
        "launcher=local",
    )
    assert single.wait() and single.process.returncode == 0
    assert close(rows(sweep.sweep / "0"), rows(single.sweep / "0"))


@pytest.mark.slow
def test_a_sweep_whose_points_are_preempted_and_killed_has_the_curves_of_one_left_alone(train):
    grid = ("toolset=local,unseen", "pricing=official,alt", *SMALL, "launcher=slurm_dev")
    disturbed = train(*grid)
    points = range(4)
    for number in points:
        until(lambda n=number: newest_step(disturbed.sweep / str(n)) >= 1, patience_s=300)
    victim = json.loads((disturbed.sweep / "3/run.json").read_text())["pid"]
    run("kill", "-9", str(victim))
    with preempting():
        until(lambda: sum("preempted" in kinds(disturbed.sweep, n) for n in points) >= 2)
    out = disturbed.wait()
    assert disturbed.process.returncode == 0, out
    assert "4 finished" in out
    assert "crashed" in kinds(disturbed.sweep, 3)

    quiet = train(*grid)
    assert quiet.wait() and quiet.process.returncode == 0
    for number in points:
        ours, theirs = (rows(sweep.sweep / str(number)) for sweep in (disturbed, quiet))
        assert len(ours) == STEPS
        assert ours == theirs, f"point {number}"
        runs = (disturbed.sweep / str(number) / "wandb").glob("offline-run-*")
        assert len({path.name.rpartition("-")[2] for path in runs}) == 1, "another W&B run was made"
    assert all(len(point.job_ids) == 1 for point in read_sweep(disturbed.sweep).points)
