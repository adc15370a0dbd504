"""Two ranks under DeepSpeed train what one process trains, and survive the death of either."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import time
from pathlib import Path

import psutil
import pytest
import torch
from tests.integration.command import Command, run_dirs
from tests.integration.test_resume import kill_after, metrics_files, rows

from toolorchestra.model.config import ModelConfig
from toolorchestra.model.policy import load_policy

STEPS = 6
SMALL = (
    f"trainer.max_steps={STEPS}",
    "trainer.episodes_per_step=2",
    "trainer.checkpoint_every=1",
    "trainer.num_threads=1",
    "trainer.micro_batch_tokens=700",  # several micro-batches a rank
    "rollout.batch_wait_s=600",  # however busy the machine, the same requests are batched
    "benchmark=none",
)
TWO_RANKS = (*SMALL, "trainer.strategy=deepspeed", "trainer.devices=2", "trainer.zero_stage=2")


def finished(folder: Path, *options: str) -> Path:
    done = Command(folder, *options).wait()
    assert done.status == 0, done.err
    return run_dirs(folder)[0]


def follower_of(command: Command) -> psutil.Process:
    """The second rank of a run under way."""
    deadline_s = time.monotonic() + 120
    while time.monotonic() < deadline_s:
        for child in psutil.Process(command.process.pid).children():
            with contextlib.suppress(psutil.Error):
                if "toolorchestra.follow" in child.cmdline():
                    return child
        time.sleep(0.05)
    raise AssertionError("no second rank was started")


def state_of(run_dir: Path) -> dict[str, torch.Tensor]:
    """Every tensor of the last checkpoint: weights, master copies and moments of both ranks."""
    found = {}
    folder = run_dir / f"checkpoints/step_{STEPS:06d}/state/checkpoint"
    for path in sorted(folder.glob("*.pt")):
        _collect(torch.load(path, weights_only=False), path.name, found)
    return found


def _collect(value, name, found):
    if isinstance(value, torch.Tensor):
        found[name] = value
    elif isinstance(value, dict):
        for key, item in value.items():
            _collect(item, f"{name}/{key}", found)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _collect(item, f"{name}/{index}", found)


def same(ours: Path, theirs: Path) -> bool:
    """Whether two runs have the same curve and end with the same state, bit for bit."""
    one, other = state_of(ours), state_of(theirs)
    assert len(one) > 20
    return (
        rows(ours) == rows(theirs)
        and one.keys() == other.keys()
        and all(torch.equal(one[name], other[name]) for name in one)
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on two ranks that nobody disturbed."""
    return finished(tmp_path_factory.mktemp("whole"), *TWO_RANKS)


def test_two_ranks_have_the_curve_of_one_process(whole, tmp_path):
    single = rows(finished(tmp_path, *SMALL))
    double = rows(whole)
    assert len(single) == len(double) == STEPS
    for key in ("reward/mean", "update/loss", "update/grad_norm", "update/entropy", "version"):
        ours, theirs = ([float(row[key] or "nan") for row in run] for run in (double, single))
        assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-5, nan_ok=True), key
    # each computes its own share; prompts that both need are computed by both
    assert all(
        float(theirs["tokens/trained"]) <= float(ours["tokens/trained"])
        for ours, theirs in zip(double, single, strict=True)
        if theirs["tokens/trained"]
    )


@pytest.mark.slow
def test_a_run_whose_ranks_died_one_after_the_other_ends_as_if_none_had(whole, tmp_path):
    command = Command(tmp_path, *TWO_RANKS)
    follower = follower_of(command)
    while not any("\n2," in path.read_text() for path in metrics_files(tmp_path)):
        assert command.process.is_alive(), command.wait().err
        time.sleep(0.01)
    follower.kill()
    lost = command.wait()
    assert lost.status != 0
    assert "rank 1 ended with status -9" in lost.err

    command = Command(tmp_path, *TWO_RANKS, "resume=auto")
    follower = follower_of(command)
    kill_after(command, tmp_path, 3)
    follower.wait(30)  # it does not outlive the first rank

    assert same(finished(tmp_path, *TWO_RANKS, "resume=auto"), whole)
    assert len(run_dirs(tmp_path)) == 1


def test_a_run_resumed_after_its_last_step_keeps_what_was_trained(tmp_path):
    options = (*SMALL, "trainer.max_steps=2", "trainer.strategy=deepspeed", "trainer.zero_stage=3")
    run = finished(tmp_path, *options)
    weights = (run / "model/model.safetensors").read_bytes()
    name = "model.layers.0.mlp.down_proj.weight"
    start = load_policy(ModelConfig())[0].state_dict()[name]
    trained = load_policy(ModelConfig(path=str(run / "model")))[0].state_dict()
    assert not torch.equal(trained[name], start), "nothing was trained"
    (run / "summary.json").unlink()  # as if it had been killed in its evaluation
    shutil.rmtree(run / "model")
    assert finished(tmp_path, *options, "resume=auto") == run
    assert (run / "model/model.safetensors").read_bytes() == weights


@pytest.mark.slow
def test_a_run_killed_twenty_times_at_random_ends_as_if_nobody_had(whole, tmp_path):
    rng, num_kills = random.Random(0), 0
    while True:
        command = Command(tmp_path, *TWO_RANKS, *(["resume=auto"] if num_kills else []))
        follower_of(command)
        # from the loading of libraries to the last checkpoint: a run takes about half a minute
        command.process.join(rng.uniform(0, 25) if num_kills < 20 else 300)
        if command.process.exitcode is not None:
            assert num_kills >= 20 or command.process.exitcode == 0
            break
        victim = rng.choice([command.process.pid, follower_of(command).pid])
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        command.wait()
        num_kills += 1
    assert same(run_dirs(tmp_path)[0], whole)
