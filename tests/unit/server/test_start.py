"""What is submitted: arrays by GPUs, a server's share of a node, and nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from submitit.core.utils import DelayedSubmission

from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.job.server_job import ServerJob
from toolorchestra.server.config import ServerConfig, ServiceConfig
from toolorchestra.server.record import FILE, Replica, read_replicas, write_replicas
from toolorchestra.server.start import batches_of, share_of, start

SERVICES = {
    "org/Large": ServiceConfig(tensor_parallel=4),
    "org/Small": ServiceConfig(replicas=2),
    "org/Tiny": ServiceConfig(),
}
SERVER = ServerConfig(services=SERVICES, keeper=["--beat-s", "1"])
SLURM = LauncherConfig(kind="slurm", cpus_per_task=2, mem_gb=400)


@pytest.fixture
def project(tmp_path):
    source = tmp_path / "project"
    source.mkdir()
    (source / "code.py").touch()
    return source


@pytest.fixture
def slurm(commands, tmp_path):
    """A cluster that calls its arrays 71, 72, ... and keeps them waiting; returns its scripts."""
    commands("sinfo", 'echo "main*|2|64|500000|gpu:8|infinite"')
    commands("squeue", 'job=${5##*=}; for i in 0 1 2; do echo "${job}_$i|PENDING|Resources"; done')
    count = f"{tmp_path}/count"
    commands(
        "sbatch",
        f'echo x >> {count}; n=$(wc -l < {count}); cp "$1" {tmp_path}/array_$n; '
        'echo "Submitted batch job 7$n"',
    )
    return lambda: [path.read_text() for path in sorted(tmp_path.glob("array_*"))]


def test_replicas_that_need_the_same_gpus_are_one_array(slurm, project, tmp_path):
    registry = tmp_path / "servers"
    start(registry, SERVER, SERVICES, SLURM, source=project)
    large, small = slurm()
    for line in ("gres=gpu:4", "mem=204800MB", "cpus-per-task=8"):
        assert f"#SBATCH --{line}\n" in large
    for line in ("array=0-2%3", "gres=gpu:1", "mem=51200MB", "cpus-per-task=2", "requeue"):
        assert f"#SBATCH --{line}\n" in small
    assert [(r.service, r.number, r.job_id) for r in read_replicas(registry)] == [
        ("org/Large", 0, "71"),
        ("org/Small", 0, "72_0"),
        ("org/Small", 1, "72_1"),
        ("org/Tiny", 0, "72_2"),
    ]
    (pickled,) = registry.glob("starts/*/jobs/72_1_submitted.pkl")
    job = DelayedSubmission.load(pickled).function
    assert isinstance(job, ServerJob)
    assert (job.service, job.registry) == ("org/Small", registry)
    assert job.keeper == ("--health", "/health", "--beat-s", "1")
    assert (job.code / "code.py").exists() and job.log.name == "org-Small_1.txt"


def test_what_waits_or_runs_is_not_started_again(slurm, project, tmp_path, caplog):
    caplog.set_level("INFO")
    registry, few = tmp_path / "servers", {"org/Small": SERVICES["org/Small"]}
    start(registry, SERVER, few, SLURM, source=project)
    start(registry, SERVER, few, SLURM, source=project)
    assert "org/Small 1: runs already, as job 71_1" in caplog.text
    assert len(slurm()) == 1 and len(list(registry.glob("starts/*"))) == 1
    more = {"org/Small": ServiceConfig(replicas=3)}
    start(registry, ServerConfig(services=more), more, SLURM, source=project)
    assert [r.job_id for r in read_replicas(registry)] == ["71_0", "71_1", "72"]


def test_what_no_node_has_is_refused_before_anything_is_submitted(slurm, project, tmp_path):
    services = {"org/Small": ServiceConfig(), "org/Huge": ServiceConfig(tensor_parallel=16)}
    with pytest.raises(ValueError, match="server of 16 GPUs: launcher.gpus_per_node: 16 is not al"):
        start(tmp_path / "s", ServerConfig(services=services), services, SLURM, source=project)
    assert not (tmp_path / "s").exists() and slurm() == []


def test_serial_and_a_machine_without_enough_gpus_are_refused(project, tmp_path):
    with pytest.raises(ValueError, match="launcher: serial is not allowed, as servers are jobs"):
        start(tmp_path, SERVER, SERVICES, LauncherConfig(), source=project)
    here = len(list(Path("/dev").glob("nvidia[0-9]*")))
    services = {"m": ServiceConfig(tensor_parallel=here + 1)}
    with pytest.raises(ValueError, match=f"launcher: local is .* of {here + 1} GPUs; {here} are"):
        start(tmp_path, SERVER, services, LauncherConfig(kind="local"), source=project)


def test_gpus_that_the_launcher_names_hold_for_all():
    launcher = LauncherConfig(kind="slurm", gpus_per_node=0)
    wanted = [("org/Large", 0), ("org/Tiny", 0)]
    assert batches_of(SERVICES, wanted, launcher) == {0: wanted}
    assert batches_of(SERVICES, wanted, SLURM) == {4: wanted[:1], 1: wanted[1:]}


def test_a_server_takes_its_gpus_share_of_a_node():
    launcher = LauncherConfig(kind="slurm", cpus_per_task=12, mem_gb=900)
    two = share_of(launcher, 2, of_node=8)
    assert (two.cpus_per_task, two.mem_gb) == (24, 225)
    none = share_of(launcher, 0, of_node=8)
    assert (none.cpus_per_task, none.mem_gb) == (12, 900)


def test_a_damaged_record_is_named(tmp_path):
    replica = Replica(service="m", number=0, kind="local", job_id="7", log="l", gpus=(1,))
    write_replicas(tmp_path / "new", [replica])
    assert read_replicas(tmp_path / "new") == (replica,)
    (tmp_path / FILE).write_text("{")
    with pytest.raises(ValueError, match="servers.json is damaged"):
        read_replicas(tmp_path)
