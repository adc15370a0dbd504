"""What is checked before a sweep is submitted, and what is then written, submitted and told."""

from __future__ import annotations

import copy
import logging

import pytest
from omegaconf import OmegaConf
from tests.composed import composed
from tests.unit.launch.scene import hide_slurm, put_command

from toolorchestra import sweep as module
from toolorchestra.launch.cluster import JobState
from toolorchestra.launch.sweep import Point, Resources, read_sweep, write_sweep
from toolorchestra.sweep import launch

SINFO = "echo 'main*|2|64|512000|gpu:8|infinite'"


class Running:
    """A cluster all of whose jobs run."""

    def states(self, job_ids):
        return {job_id: JobState(kind="running") for job_id in job_ids}

    def cancel(self, job_ids):
        type(self).cancelled = job_ids


@pytest.fixture(scope="module")
def base():
    """The options of one point; composing them takes seconds."""
    return composed("launcher=slurm", "trainer.accelerator=gpu")


@pytest.fixture
def commands(tmp_path_factory, monkeypatch):
    """Where Slurm's commands are, none of which reaches a Slurm; sinfo knows one partition."""
    folder = tmp_path_factory.mktemp("commands")
    hide_slurm(folder, monkeypatch)
    put_command(folder, "sinfo", SINFO)
    return folder


@pytest.fixture
def code(tmp_path, monkeypatch):
    """The project's tree."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "train.py").write_text("print()\n")
    monkeypatch.setattr(module, "ROOT", root)
    return root


@pytest.fixture
def submitted(monkeypatch, commands, code):
    """What is handed to Slurm: folder, sweep and numbers, each time."""
    calls = []

    def submit(folder, sweep, numbers):
        calls.append((folder, sweep, list(numbers)))
        return sweep.submitted({number: f"77_{number}" for number in numbers})

    monkeypatch.setattr(module, "submit", submit)
    return calls


@pytest.fixture
def start(base, tmp_path, submitted):
    """`start({"seed": 1}, {"seed": 2}, kind="local")`: launches points that differ so."""

    def run(*points, words=None, **options):
        configs = [copy.deepcopy(base) for _ in points]
        shared = {f"launcher.{key}": value for key, value in ({"detach": True} | options).items()}
        for config, changes in zip(configs, points, strict=True):
            for key, value in (shared | changes).items():
                OmegaConf.update(config, key, value)
        said = words or [[f"{key}={value}" for key, value in point.items()] for point in points]
        return launch(configs, said, tmp_path / "sweep")

    return run


def refusal(run, *points, **options):
    with pytest.raises(ValueError) as caught:
        run(*points, **options)
    return str(caught.value)


def test_a_sweep_is_written_down_with_a_copy_of_the_code_before_it_is_submitted(
    start, submitted, tmp_path, monkeypatch
):
    monkeypatch.setattr("sys.argv", ["train.py", "-m", "experiment=a b"])
    assert start({"seed": 1}, {"seed": 2}) == 0
    ((folder, sweep, numbers),) = submitted
    assert folder == tmp_path / "sweep" and numbers == [0, 1]
    assert read_sweep(folder) == sweep
    assert sweep.command == "train.py -m 'experiment=a b'"
    assert sweep.group == "default sweep"
    assert sweep.launcher.kind == "slurm"
    assert sweep.resources == Resources(num_nodes=1, tasks_per_node=1, gpus_per_node=1)
    assert sweep.points == (
        Point(number=0, overrides=("seed=1",)), Point(number=1, overrides=("seed=2",)),
    )  # fmt: skip
    assert (folder / "0").is_dir() and (folder / "1").is_dir()
    assert (folder / "code/train.py").read_text() == "print()\n"


def test_overrides_that_say_where_a_point_runs_are_not_the_points_own(start, submitted):
    words = [
        "launcher=slurm", "launcher.partition=main", "++launcher.sbatch.nice=3", "~launcher.setup",
        "hydra.sweep.dir=x", "hydra/launcher=submitit", "+hydra.job.env_set.A=1", "seed=2",
        "toolset=local", "+model.launcher=a", "resume=auto", "launcher_x=1",
    ]  # fmt: skip
    start({}, words=[words])
    assert submitted[0][1].points[0].overrides == (
        "seed=2", "toolset=local", "+model.launcher=a", "resume=auto", "launcher_x=1",
    )  # fmt: skip


def test_a_point_whose_options_are_not_allowed_is_named_and_nothing_is_written(
    start, submitted, tmp_path
):
    told = refusal(start, {"seed": 1}, {"trainer.max_steps": -1})
    assert told.startswith("trainer.max_steps: -1 is not allowed; use ")
    assert told.endswith("(at trainer.max_steps=-1)")
    assert submitted == [] and not (tmp_path / "sweep").exists()


def test_what_only_a_look_at_several_groups_finds_wrong_is_found_too(start, submitted, tmp_path):
    told = refusal(start, {"toolset.min_tools": 99}, words=[["launcher=slurm"]])
    assert "99" in told and told.endswith("(at defaults)")
    assert submitted == [] and not (tmp_path / "sweep").exists()


def test_points_that_need_different_things_do_not_fit_into_one_array(start, submitted, tmp_path):
    deep = {"trainer.strategy": "deepspeed", "trainer.devices": 2}
    told = refusal(start, {"trainer.devices": 1}, deep)
    assert told.startswith("trainer.devices, trainer.num_nodes and the GPUs must be the same")
    assert told.endswith("submit them by commands of their own")
    assert submitted == [] and not (tmp_path / "sweep").exists()


def test_what_the_partition_cannot_run_is_refused_before_anything_is_written(
    start, submitted, tmp_path
):
    told = refusal(start, {}, mem_gb=501)
    assert told.startswith("launcher.mem_gb, in MB: 513024 is not allowed; use at most 512000")
    assert submitted == [] and not (tmp_path / "sweep").exists()


def test_this_machine_needs_no_partition(start, submitted, commands, code, monkeypatch):
    start({}, kind="local", mem_gb=501)
    assert not (commands / "sinfo.calls").exists()
    assert len(submitted) == 1


def test_this_machine_is_no_more_than_one(start, submitted, tmp_path):
    two = {"trainer.strategy": "deepspeed", "trainer.num_nodes": 2}
    assert refusal(start, two, kind="local") == (
        "trainer.num_nodes: 2 is not allowed on one machine; use launcher=slurm"
    )
    assert submitted == [] and not (tmp_path / "sweep").exists()


def test_a_folder_that_holds_a_sweep_is_not_used_for_another(start, submitted, tmp_path):
    start({"seed": 1})
    before = read_sweep(tmp_path / "sweep")
    assert refusal(start, {"seed": 2}) == (
        f"hydra.sweep.dir: {tmp_path}/sweep holds a sweep already; use another folder, or "
        f"python -m toolorchestra.launch resubmit {tmp_path}/sweep"
    )
    assert len(submitted) == 1 and read_sweep(tmp_path / "sweep") == before


def test_on_this_machine_only_as_many_are_started_as_may_run_at_once(
    start, submitted, monkeypatch, caplog
):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(module, "wait", lambda folder, cluster: 3)
    points = [{"seed": 1}, {"seed": 2}]
    assert start(*points, kind="local", max_parallel=1, detach=False) == 3, "as the wait ends"
    assert submitted[0][2] == [0]
    assert caplog.messages[-3:-1] == [
        "point 0 (job 77_0): seed=1", "point 1 (job waits for room): seed=2",
    ]  # fmt: skip


def test_on_slurm_all_are_handed_over_at_once(start, submitted):
    start({"seed": 1}, {"seed": 2}, max_parallel=1)
    assert submitted[0][2] == [0, 1]


def test_nobody_would_start_the_rest_of_a_sweep_that_is_left_alone_on_this_machine(
    start, submitted, tmp_path
):
    assert refusal(start, {"seed": 1}, {"seed": 2}, kind="local", max_parallel=1) == (
        "launcher.max_parallel: 1 is not allowed with launcher.detach on this machine; use 2, as "
        "nobody would be there to start the rest"
    )
    assert submitted == [] and not (tmp_path / "sweep").exists()


@pytest.mark.parametrize("kind", ["slurm", "local"])
def test_ctrl_c_leaves_jobs_of_slurm_alone_and_ends_those_of_this_machine(
    start, submitted, monkeypatch, kind
):
    def interrupt(folder, cluster):
        write_sweep(folder, read_sweep(folder).submitted({0: "77_0"}))  # as the real submission
        raise KeyboardInterrupt

    class Jobs(Running):
        cancelled = None

    monkeypatch.setattr(module, "wait", interrupt)
    monkeypatch.setattr(module, "cluster_of", lambda kind: Jobs())
    with pytest.raises(KeyboardInterrupt):
        start({"seed": 1}, {"seed": 2}, kind=kind, max_parallel=1, detach=False)
    assert Jobs.cancelled == {"slurm": None, "local": ["77_0"]}[kind]


def test_ctrl_c_ends_those_too_that_were_started_while_it_waited(start, submitted, monkeypatch):
    def interrupt(folder, cluster):
        write_sweep(folder, read_sweep(folder).submitted({0: "77_0", 1: "78"}))
        raise KeyboardInterrupt

    class Jobs(Running):
        cancelled = None

    monkeypatch.setattr(module, "wait", interrupt)
    monkeypatch.setattr(module, "cluster_of", lambda kind: Jobs())
    with pytest.raises(KeyboardInterrupt):
        start({"seed": 1}, {"seed": 2}, kind="local", max_parallel=1, detach=False)
    assert Jobs.cancelled == ["77_0", "78"]


@pytest.mark.parametrize(
    ("changes", "gpus"),
    [
        ({"trainer.accelerator": "cpu"}, 0),
        ({}, 1),
        ({"rollout.engine": "vllm"}, 1),
        # ranks and workers share the first GPUs: two workers of two each take four
        ({"rollout.engine": "vllm", "rollout.vllm.num_workers": 2,
          "rollout.vllm.tensor_parallel": 2}, 4),
        # one rank on GPU 0, two workers on GPUs 1 and 2
        ({"rollout.engine": "vllm", "rollout.vllm.num_workers": 2, "rollout.vllm.first_gpu": 1}, 3),
        ({"rollout.engine": "vllm", "rollout.vllm.num_workers": 8,
          "rollout.vllm.urls": ["http://n7:8000"]}, 1),
        ({"rollout.engine": "vllm", "rollout.vllm.num_workers": 2, "launcher.gpus_per_node": 5}, 5),
        ({"trainer.strategy": "deepspeed", "trainer.devices": 4, "trainer.num_nodes": 2}, 4),
    ],
)  # fmt: skip
def test_a_job_gets_the_gpus_that_its_ranks_and_workers_take(start, submitted, changes, gpus):
    start(changes, words=[[]])
    resources = submitted[0][1].resources
    assert resources.gpus_per_node == gpus
    assert resources.num_nodes == changes.get("trainer.num_nodes", 1)
    assert resources.tasks_per_node == changes.get("trainer.devices", 1)
