"""The file of a submitted sweep: written, read, missing and damaged."""

from __future__ import annotations

import json
import os

import pytest

from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.sweep import (
    FILE,
    Point,
    Resources,
    Sweep,
    read_sweep,
    run_dir_of,
    write_sweep,
)

SWEEP = Sweep(
    command="train.py -m 'a=b c'",
    submitted_at=1.5,
    group="default 2026",
    launcher=LauncherConfig(
        kind="slurm", mem_gb=2.5, sbatch={"mail-type": "END", "nice": 3}, setup=["module load a"]
    ),
    resources=Resources(num_nodes=2, tasks_per_node=8, gpus_per_node=8),
    points=(
        Point(number=0, overrides=("seed=1", "toolset=local")),
        Point(number=1, overrides=(), job_ids=("7_1", "9")),
    ),
)


def test_a_sweep_reads_back_as_it_was_written(tmp_path):
    write_sweep(tmp_path / "new", SWEEP)
    assert read_sweep(tmp_path / "new") == SWEEP
    write_sweep(tmp_path / "new", SWEEP.submitted({0: "8"}))
    assert read_sweep(tmp_path / "new").points[0].job_ids == ("8",)
    assert os.listdir(tmp_path / "new") == [FILE], "nothing half written is left"


def test_a_folder_without_a_sweep_is_named_with_what_to_name_instead(tmp_path):
    with pytest.raises(ValueError) as caught:
        read_sweep(tmp_path / "none")
    assert str(caught.value) == (
        f"{tmp_path / 'none'} holds no submitted sweep; name the folder that the command printed"
    )


@pytest.mark.parametrize(
    "content", [b"", b'{"command": "tr', b"[]", b"\xff\xfe", b'{"command": 1}']
)
def test_a_damaged_file_is_named_and_the_points_are_said_to_stand(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ValueError) as caught:
        read_sweep(tmp_path)
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / FILE} is damaged (")
    assert told.endswith("); the points' own folders stand")


def test_an_option_that_is_no_longer_allowed_counts_as_damage(tmp_path):
    write_sweep(tmp_path, SWEEP)
    record = json.loads((tmp_path / FILE).read_text())
    record["launcher"]["kind"] = "cloud"
    (tmp_path / FILE).write_text(json.dumps(record))
    with pytest.raises(ValueError, match=r"is damaged \(.*launcher.kind: 'cloud' is not allowed"):
        read_sweep(tmp_path)


def test_a_point_that_is_submitted_again_gets_one_more_job_and_the_others_none():
    again = SWEEP.submitted({1: "12"})
    assert [point.job_ids for point in again.points] == [(), ("7_1", "9", "12")]
    assert [point.overrides for point in again.points] == [p.overrides for p in SWEEP.points]
    assert SWEEP.points[1].job_ids == ("7_1", "9"), "what was read is not changed"


def test_a_point_writes_below_the_sweep_wherever_others_are_at_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    assert run_dir_of((tmp_path / "a/../b").relative_to(tmp_path), SWEEP.points[1]) == (
        tmp_path / "b/1"
    )
