"""What points are submitted with, to Slurm and on this machine, and what becomes of a refusal."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from submitit.core.utils import DelayedSubmission
from tests.unit.launch.scene import make_sweep, put_command, until

from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.task import PointJob
from toolorchestra.launch.submit import FOREVER_MIN, parameters, submit
from toolorchestra.launch.sweep import Resources, read_sweep


def slurm(**changes):
    return parameters(
        Path("/s"),
        LauncherConfig(kind="slurm", **changes),
        Resources(num_nodes=2, tasks_per_node=8, gpus_per_node=4),
        name="n",
    )


def test_a_job_of_slurm_is_given_what_the_options_say_and_nothing_that_they_leave_open():
    assert slurm() == {
        "nodes": 2,
        "tasks_per_node": 8,
        "slurm_job_name": "toolorchestra-n",
        "slurm_time": 1440,
        "slurm_signal_delay_s": 300,
        "slurm_cpus_per_task": 1,
        "slurm_gres": "gpu:4",
        "slurm_array_parallelism": 32,
        "slurm_setup": ["export PYTHONPATH=/s/code/src"],
        "slurm_srun_args": ["--cpus-per-task=1", "--kill-on-bad-exit=1"],
        "slurm_additional_parameters": {"requeue": True},
    }


def test_every_option_of_slurm_reaches_it():
    asked = slurm(
        partition="gpu", account="mine", qos="high", constraint="nvlink", time_min=60, signal_s=30,
        cpus_per_task=12, mem_gb=2.5, gres="gpu:h100", max_parallel=3, setup=["module load cuda"],
        sbatch={"mail-type": "END"}, srun_args=["--mpi=none"],
    )  # fmt: skip
    assert {
        "slurm_partition": "gpu", "slurm_account": "mine", "slurm_qos": "high",
        "slurm_constraint": "nvlink", "slurm_time": 60, "slurm_signal_delay_s": 30,
        "slurm_cpus_per_task": 12, "slurm_mem": "2560MB", "slurm_gres": "gpu:h100:4",
        "slurm_array_parallelism": 3,
        "slurm_setup": ["export PYTHONPATH=/s/code/src", "module load cuda"],
        "slurm_additional_parameters": {"requeue": True, "mail-type": "END"},
        "slurm_srun_args": ["--cpus-per-task=12", "--kill-on-bad-exit=1", "--mpi=none"],
    }.items() <= asked.items()  # fmt: skip


def test_without_gpus_slurm_is_not_asked_for_any():
    resources = Resources(gpus_per_node=0)
    asked = parameters(Path("/s"), LauncherConfig(kind="slurm"), resources, name="n")
    assert "slurm_gres" not in asked


def test_a_container_sees_the_sweep_and_the_place_of_submission_and_what_is_mounted(
    monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    asked = slurm(container_image="/i.sqsh", container_mounts=["/data:/d"], srun_args=["-l"])
    places = sorted(["/s:/s", f"{tmp_path}:{tmp_path}"])
    assert asked["slurm_srun_args"][2:] == [
        "--container-image=/i.sqsh",
        f"--container-mounts={','.join(places)},/data:/d",
        "-l",
    ]


def test_a_process_of_this_machine_has_no_time_limit_and_only_what_it_can_use():
    options = LauncherConfig(kind="local", time_min=5, signal_s=0, mem_gb=4, partition="gpu")
    resources = Resources(tasks_per_node=2, gpus_per_node=3)
    assert parameters(Path("/s"), options, resources, name="n") == {
        "nodes": 1, "tasks_per_node": 2, "gpus_per_node": 3, "timeout_min": FOREVER_MIN,
    }  # fmt: skip
    asked = parameters(Path("/s"), LauncherConfig(kind="local", setup=["a"]), resources, name="n")
    assert asked["local_setup"] == ["a"]


@pytest.fixture
def sbatch(commands, tmp_path):
    """Takes every script and calls it job 77; returns the last one."""
    taken = tmp_path / "taken"
    commands("sbatch", f'cp "$1" {taken}; echo "Submitted batch job 77"')
    return taken


def test_points_that_are_submitted_at_once_are_one_array_with_a_line_for_each_wish(
    sbatch, tmp_path
):
    folder = tmp_path / "my sweep"
    sweep = make_sweep(
        folder, ("seed=1",), ("seed=2",), ("seed=3",), max_parallel=2, sbatch={"mail-type": "END"}
    )
    sweep = submit(folder, sweep, [0, 2])
    assert [point.job_ids for point in sweep.points] == [("77_0",), (), ("77_1",)]
    assert read_sweep(folder) == sweep
    script = sbatch.read_text()
    for line in ("array=0-1%2", "requeue", "signal=USR2@300", "mail-type=END", "time=1440",
                 "open-mode=append"):  # fmt: skip
        assert f"#SBATCH --{line}\n" in script
    (export,) = [line for line in script.splitlines() if line.startswith("export PYTHONPATH")]
    assert shlex.split(export) == ["export", f"PYTHONPATH={folder}/code/src"]


def test_each_task_of_the_array_finds_the_job_of_its_own_point(sbatch, tmp_path):
    sweep = make_sweep(tmp_path / "s", ("seed=1",), ("seed=2",), ("seed=3",))
    submit(tmp_path / "s", sweep, [0, 2])
    jobs = {
        name: DelayedSubmission.load(tmp_path / f"s/jobs/{name}_submitted.pkl").function
        for name in ("77_0", "77_1")
    }
    assert jobs["77_1"] == PointJob(
        run_dir=tmp_path / "s/2",
        code=tmp_path / "s/code",
        overrides=("seed=3",),
        group="a group",
        launcher=sweep.launcher,
    )
    assert jobs["77_0"].overrides == ("seed=1",)


def test_a_point_that_is_submitted_again_alone_is_no_array_and_gets_one_more_job(sbatch, tmp_path):
    sweep = make_sweep(tmp_path / "s", ("seed=1",), ("seed=2",), job_ids={0: "7_0", 1: "7_1"})
    sweep = submit(tmp_path / "s", sweep, [1])
    assert [point.job_ids for point in sweep.points] == [("7_0",), ("7_1", "77")]
    assert "--array" not in sbatch.read_text()


def test_the_nodes_may_have_a_python_of_their_own(sbatch, tmp_path):
    sweep = make_sweep(tmp_path / "s", ("seed=1",), python="/opt/bin/python3")
    submit(tmp_path / "s", sweep, [0])
    assert " /opt/bin/python3 -u -m submitit.core._submit " in sbatch.read_text()


def test_a_refusal_is_slurms_own_sentence_and_nothing_is_written_down(commands, tmp_path):
    said = (
        "sbatch: error: Invalid account specified\n"
        "sbatch: error: Batch job submission failed: Unspecified error"
    )
    commands("sbatch", f"echo '{said}' >&2; exit 1")
    sweep = make_sweep(tmp_path / "s", ("seed=1",), ("seed=2",))
    with pytest.raises(ValueError) as caught:
        submit(tmp_path / "s", sweep, [0, 1])
    assert str(caught.value) == "launcher: the jobs were refused: Invalid account specified"
    assert read_sweep(tmp_path / "s") == sweep


def test_an_answer_without_a_job_is_a_refusal_too(commands, tmp_path):
    commands("sbatch", "echo hello")
    with pytest.raises(ValueError, match="the jobs were refused: Could not make sense of sbatch"):
        submit(tmp_path / "s", make_sweep(tmp_path / "s", ("seed=1",)), [0])


def test_jobs_of_this_machine_import_the_copy_of_the_code_and_this_process_what_it_did(
    tmp_path, monkeypatch
):
    python = put_command(tmp_path, "python", f'echo "$PYTHONPATH" > {tmp_path}/new; '
                         f"mv {tmp_path}/new {tmp_path}/told")  # fmt: skip
    for before in (None, "/of/mine"):
        folder = tmp_path / str(before).strip("/")
        if before:
            monkeypatch.setenv("PYTHONPATH", before)
        else:
            monkeypatch.delenv("PYTHONPATH", raising=False)
        sweep = make_sweep(folder, ("seed=1",), kind="local", python=str(python))
        (point,) = submit(folder, sweep, [0]).points
        assert os.environ.get("PYTHONPATH") == before
        until((tmp_path / "told").exists)
        assert (tmp_path / "told").read_text() == f"{folder}/code/src\n"
        (tmp_path / "told").unlink()
        os.waitpid(int(point.job_ids[0]), 0)
