"""An evaluation of 300 tasks, killed ten times: it loses and repeats nothing that was recorded."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.integration.command import Command

from toolorchestra.report.trajectories import EVALUATION_FILE

NUM_TASKS, NUM_POLICIES, NUM_KILLS = 300, 6, 10
WORDS = (f"benchmark.num_episodes={NUM_TASKS}", "num_threads=1", "rollout.max_concurrent=32")


def whole_lines(path: Path) -> list[bytes]:
    """Those that a kill has not cut."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith(b"\n")]


def started(folder: Path, run_dir: Path) -> Command:
    return Command(folder, *WORDS, f"hydra.run.dir={run_dir}", script="evaluate.py")


def kill_at(command: Command, path: Path, num_lines: int) -> None:
    """Kills a command and all its processes once so many records are there."""
    while len(whole_lines(path)) < num_lines:
        assert command.process.is_alive(), "it ended before it was killed"
        time.sleep(0.02)
    os.killpg(command.process.pid, signal.SIGKILL)
    command.process.join()


def without_noise(line: bytes) -> Any:
    """A record without real time, and without the last digits of what sampling computed: they
    depend on who shared a batch."""
    record = json.loads(line)
    del record["rollout"]["wall_s"]
    for turn in record["rollout"]["turns"]:
        del turn["logprobs"]
    return record


@pytest.mark.slow
def test_killed_ten_times_it_ends_with_the_records_of_one_left_alone(tmp_path):
    run_dir = tmp_path / "killed"
    path, total = run_dir / EVALUATION_FILE, NUM_TASKS * NUM_POLICIES
    seen: list[bytes] = []
    for kill in range(1, NUM_KILLS + 1):
        kill_at(started(tmp_path / "out", run_dir), path, kill * total // (NUM_KILLS + 1))
        lines = whole_lines(path)
        assert lines[: len(seen)] == seen, "what was recorded was not left as it was"
        seen = lines
    done = started(tmp_path / "out", run_dir).wait()
    assert done.status == 0, done.err
    final = whole_lines(path)
    assert set(seen) <= set(final), "a recorded trial was played again"
    assert len(final) == total

    alone = tmp_path / "alone"
    done = started(tmp_path / "out", alone).wait()
    assert done.status == 0, done.err
    wanted = whole_lines(alone / EVALUATION_FILE)
    assert list(map(without_noise, final)) == list(map(without_noise, wanted))
    assert (run_dir / "results.jsonl").read_bytes() == (alone / "results.jsonl").read_bytes()
