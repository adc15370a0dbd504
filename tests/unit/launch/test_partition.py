"""Whether a partition could run a job: what sinfo says, read and compared with what is asked."""

from __future__ import annotations

import math
import os

import pytest

from toolorchestra.launch import cluster
from toolorchestra.launch.config import LauncherConfig
from toolorchestra.launch.partition import (
    Partition,
    check_partition,
    check_slurm,
    read_partitions,
)
from toolorchestra.launch.sweep import Resources

LINES = [
    "main*|2|64|512000|gpu:8|infinite",
    "mixed|3|32|128000|gpu:a100:4(S:0-1),fs:1|2-00:00:00",
    "mixed|1|96+|1024000+|gpu:h100:8(S:0,3)|2-00:00:00",
    "cpu|4|16|64000|(null)|30:00",
]


def partition(**changes):
    fields = {
        "name": "main",
        "is_default": True,
        "num_nodes": 2,
        "cpus_per_node": 64,
        "mem_mb_per_node": 512_000,
        "gpus_per_node": 8,
        "time_min": 600.0,
    }
    return Partition(**(fields | changes))


def options(**changes):
    return LauncherConfig(**({"kind": "slurm", "time_min": 60} | changes))


def test_each_line_of_sinfo_is_read_and_the_default_is_the_one_with_a_star():
    main, _, cpu = read_partitions(LINES[:2] + LINES[3:], "gpu")
    assert main == partition(time_min=math.inf)
    assert cpu == partition(
        name="cpu", is_default=False, num_nodes=4, cpus_per_node=16, mem_mb_per_node=64_000,
        gpus_per_node=0, time_min=30.0,
    )  # fmt: skip


def test_nodes_that_differ_add_up_and_the_largest_of_them_counts():
    found = {part.name: part for part in read_partitions(LINES, "gpu")}
    assert list(found) == ["main", "mixed", "cpu"]
    assert found["mixed"] == partition(
        name="mixed", is_default=False, num_nodes=4, cpus_per_node=96,
        mem_mb_per_node=1_024_000, gpus_per_node=8, time_min=2880.0,
    )  # fmt: skip
    # the smaller node last makes no difference
    turned = {part.name: part for part in read_partitions(LINES[::-1], "gpu")}
    assert turned["mixed"] == found["mixed"]


@pytest.mark.parametrize(
    ("devices", "gres", "count"),
    [
        ("(null)", "gpu", 0),
        ("gpu:8", "gpu", 8),
        ("gpu:8", "gpu:h100", 0),
        ("gpu:h100:8", "gpu", 8),
        ("gpu:h100:8(S:0-1)", "gpu:h100", 8),
        ("gpu:h100:8(S:0,3,5)", "gpu:h100", 8),
        ("gpu:h100:4(S:0),gpu:a100:2(S:1)", "gpu", 6),
        ("gpu:h100:4(S:0),gpu:a100:2(S:1)", "gpu:a100", 2),
        ("gpu:nvidia_a100-sxm4-80gb:4", "gpu:nvidia_a100-sxm4-80gb", 4),
        ("gpu:h100_mig:7", "gpu:h100", 0),
        ("fs:lustre:1,gpumem:80", "gpu", 0),
        ("fs:1,gpu:2,nvme:1", "gpu", 2),
    ],
)
def test_only_the_devices_that_are_asked_for_count(devices, gres, count):
    (part,) = read_partitions([f"main*|1|8|1000|{devices}|infinite"], gres)
    assert part.gpus_per_node == count


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [
        ("infinite", math.inf),
        ("n/a", math.inf),
        ("30:00", 30.0),
        ("0:30", 0.5),
        ("4:00:00", 240.0),
        ("1:02:30", 62.5),
        ("2-00:00:00", 2880.0),
        ("1-12:30:00", 2190.0),
    ],
)
def test_a_time_limit_is_read_as_slurm_writes_it(limit, minutes):
    assert read_partitions([f"main|1|8|1000|(null)|{limit}"], "gpu")[0].time_min == minutes


def test_what_just_fits_is_allowed_in_the_default_partition_and_in_one_that_is_named():
    asked = options(cpus_per_task=8, mem_gb=500, time_min=600)
    all_of_it = Resources(num_nodes=2, tasks_per_node=8, gpus_per_node=8)
    check_partition([partition()], asked, all_of_it)
    other = partition(name="other", is_default=False, num_nodes=1)
    named = options(cpus_per_task=8, mem_gb=500, time_min=600, partition="main")
    check_partition([other, partition(is_default=False)], named, all_of_it)


@pytest.mark.parametrize(
    ("changes", "resources", "told"),
    [
        (
            {},
            {"num_nodes": 3},
            "trainer.num_nodes: 3 is not allowed; use at most 2: partition main has that many "
            "nodes",
        ),
        (
            {"gres": "gpu:h100"},
            {"gpus_per_node": 9},
            "launcher.gpus_per_node: 9 is not allowed; use at most 8: the largest node of "
            "partition main has that many of gpu:h100, and training ranks (trainer.devices) and "
            "vLLM workers share them",
        ),
        (
            {"cpus_per_task": 9},
            {"tasks_per_node": 8},
            "launcher.cpus_per_task: 72 is not allowed; use at most 64: for 8 tasks a node of "
            "partition main has that many",
        ),
        (
            {"mem_gb": 600.0},
            {},
            "launcher.mem_gb, in MB: 614400 is not allowed; use at most 512000: nodes of "
            "partition main have that",
        ),
        (
            {"time_min": 601},
            {},
            "launcher.time_min: 601 is not allowed; use at most 600: partition main allows no more",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence_with_the_option_to_change(changes, resources, told):
    with pytest.raises(ValueError) as caught:
        check_partition([partition()], options(**changes), Resources(**resources))
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("gpu", "launcher.partition: 'gpu' is not allowed; use main, cpu"),
        (None, "launcher.partition: there is no default here; use main, cpu"),
    ],
)
def test_a_partition_that_is_not_there_is_answered_with_those_that_are(wanted, told):
    there = [partition(is_default=False), partition(name="cpu", is_default=False)]
    with pytest.raises(ValueError) as caught:
        check_partition(there, options(partition=wanted), Resources())
    assert str(caught.value) == told


def test_sinfo_is_asked_once_for_all_that_is_compared(commands):
    calls = commands("sinfo", f"echo '{LINES[0]}'; echo '{LINES[3]}'")
    found = check_slurm(options(), Resources(num_nodes=2, gpus_per_node=8))
    assert found == partition(time_min=math.inf)
    assert calls.read_text() == "--noheader --exact --format=%P|%D|%c|%m|%G|%l\n"
    with pytest.raises(ValueError, match="gpus_per_node: 1 is not allowed; use at most 0"):
        check_slurm(options(partition="cpu", time_min=30), Resources(gpus_per_node=1))


def test_a_machine_without_slurm_is_told_from_a_cluster_that_is_down(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError) as caught:
        check_slurm(options(), Resources())
    assert str(caught.value) == (
        "launcher: there is no sinfo on this machine; submit from a login node of the cluster, or "
        "use launcher=local or launcher=serial"
    )


def test_a_controller_that_is_down_or_silent_is_to_be_waited_for(commands, monkeypatch):
    commands(
        "sinfo", 'echo "slurm_load_partitions: Unable to contact slurm controller" >&2; exit 1'
    )
    told = (
        r"launcher: Slurm does not answer \(slurm_load_partitions: Unable to contact slurm "
        r"controller\); wait, or use launcher=local"
    )
    with pytest.raises(ValueError, match=told):
        check_slurm(options(), Resources())

    monkeypatch.setattr(cluster, "ANSWER_S", 0.1)
    commands("sinfo", "exec sleep 60")
    with pytest.raises(ValueError, match=r"does not answer \(sinfo has not answered for 0 s\)"):
        check_slurm(options(), Resources())


def test_slurms_answer_does_not_depend_on_the_users_language(commands, monkeypatch):
    monkeypatch.setitem(os.environ, "LC_ALL", "de_DE.UTF-8")
    commands("sinfo", f'[ "$LC_ALL" = C ] || exit 1; echo "{LINES[0]}"')
    check_slurm(options(), Resources())
