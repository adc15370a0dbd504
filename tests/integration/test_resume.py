"""A run that was killed and resumed equals a run that never was, to the last digit."""

from __future__ import annotations

import csv
import os
import signal
import time
from pathlib import Path

import pytest
import torch
from tests.integration.command import Command, run_dirs

from toolorchestra.report.trajectories import read_trajectories

STEPS = 6
SMALL = (
    f"trainer.max_steps={STEPS}",
    "trainer.episodes_per_step=2",
    "trainer.checkpoint_every=2",
    "trainer.num_threads=1",
    "rollout.batch_wait_s=600",  # however busy the machine, the same requests are batched
    "benchmark=none",
)


def rows(run_dir: Path) -> list[dict[str, str]]:
    """Lines of metrics.csv without the columns that clocks fill."""
    with (run_dir / "metrics.csv").open(newline="") as file:
        return [
            {key: value for key, value in row.items() if not key.startswith("time/")}
            for row in csv.DictReader(file)
        ]


def kill_after(command: Command, folder: Path, step: int) -> None:
    """Kills a run as soon as `step` stands in its metrics."""
    deadline_s = time.monotonic() + 120
    while not any(path.read_text().count("\n") > step + 1 for path in metrics_files(folder)):
        assert command.process.is_alive() and time.monotonic() < deadline_s, command.wait().err
        time.sleep(0.01)
    os.kill(command.process.pid or 0, signal.SIGKILL)
    assert command.wait().status == -signal.SIGKILL


def metrics_files(folder: Path) -> list[Path]:
    return [path for run in run_dirs(folder) if (path := run / "metrics.csv").exists()]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that was never killed."""
    folder = tmp_path_factory.mktemp("whole")
    assert (done := Command(folder, *SMALL).wait()).status == 0, done.err
    return run_dirs(folder)[0]


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that was killed after its fourth step, then resumed by resume=auto."""
    folder = tmp_path_factory.mktemp("killed")
    kill_after(Command(folder, *SMALL), folder, 3)
    (killed,) = run_dirs(folder)
    assert not (killed / "summary.json").exists()
    done = Command(folder, *SMALL, "resume=auto").wait()
    assert done.status == 0, done.err
    assert run_dirs(folder) == [killed], "it went on in the same folder, and left no other"
    assert f"resuming {killed}" in done.out
    assert "step 1/" not in done.out, "it began anew"
    return killed


def test_the_curve_of_a_resumed_run_equals_that_of_a_run_never_killed(whole, resumed):
    assert rows(resumed) == rows(whole)
    assert [row["step"] for row in rows(whole)] == [str(step) for step in range(STEPS)]
    updates = [row["update/loss"] for row in rows(whole) if row["update/loss"]]
    assert len(set(updates)) > 2, "too little was trained to tell the two apart"


def test_the_weights_of_a_resumed_run_equal_those_of_a_run_never_killed(whole, resumed):
    last = f"checkpoints/step_{STEPS:06d}"
    ours, theirs = (
        torch.load(run / last / "state", weights_only=True)["state_dict"]
        for run in (resumed, whole)
    )
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_the_trajectories_of_a_resumed_run_hold_each_step_once(whole, resumed):
    ours, theirs = (list(read_trajectories(run / "trajectories.jsonl")) for run in (resumed, whole))
    assert [item.step for item in ours] == [step for step in range(STEPS) for _ in range(2)]
    assert [item.group.scores for item in ours] == [item.group.scores for item in theirs]


def test_a_resumed_run_keeps_its_tracking_id(resumed):
    logs = list((resumed / "wandb").glob("offline-run-*/run-*.wandb"))
    assert len(logs) == 2
    assert len({log.name for log in logs}) == 1


def test_a_finished_run_is_not_resumed_and_another_config_never_is(resumed):
    folder = resumed.parents[1]
    short = [item for item in SMALL if "max_steps" not in item] + ["trainer.max_steps=0"]
    refused = Command(folder, *short, f"resume={resumed}").wait()
    assert refused.status == 1
    assert "was made with another config" in refused.err and "start anew" in refused.err
    for _ in range(2):
        assert (done := Command(folder, *short, "resume=auto").wait()).status == 0, done.err
        assert "resuming" not in done.out
    assert len(run_dirs(folder)) == 3
