"""What the launcher refuses, and how it says so."""

from __future__ import annotations

import pytest

from toolorchestra.launch.config import LauncherConfig


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("kind", "cloud", "serial or local or slurm"),
        ("max_parallel", 0, "a whole number from 1"),
        ("time_min", 0, "a whole number from 1"),
        ("cpus_per_task", -2, "a whole number from 1"),
        ("signal_s", -1, "a whole number from 0"),
        ("stop_within_s", -1, "a whole number from 0"),
        ("max_idle_restarts", -1, "a whole number from 0"),
        ("poll_s", 0.0, "seconds above 0, at most 3600"),
        ("poll_s", 3601.0, "seconds above 0, at most 3600"),
        ("poll_s", float("nan"), "seconds above 0, at most 3600"),
        ("mem_gb", 0.0, "a number above 0, or null"),
        ("mem_gb", float("nan"), "a number above 0, or null"),
        ("gpus_per_node", -1, "a whole number from 0, or null"),
        ("gres", "tpu", "gpu, or gpu:<type>"),
        ("gres", "gpu:h100:8", "gpu, or gpu:<type>"),
        ("signal_s", 86_400, "less than the 86400 s of time_min"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_its_key_and_what_is(key, value, allowed):
    with pytest.raises(ValueError) as caught:
        LauncherConfig(**{key: value})
    assert str(caught.value) == f"launcher.{key}: {value!r} is not allowed; use {allowed}"


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "local", "max_parallel": 1, "signal_s": 0, "stop_within_s": 0},
        {"max_idle_restarts": 0, "poll_s": 3600.0, "mem_gb": 0.5, "gpus_per_node": 0},
        {"time_min": 1, "signal_s": 59},
        {"gres": "gpu:h100"},
        {"gres": "gpu:nvidia_a100-sxm4-80gb"},
        {"gres": "gpu:1g.10gb"},
        {"kind": "slurm", "detach": True, "sbatch": {"mail-type": "END"}},
    ],
)
def test_what_lies_at_the_edge_of_a_range_is_allowed(options):
    LauncherConfig(**options)


def test_a_signal_must_come_before_the_end():
    with pytest.raises(ValueError, match="signal_s: 60 is not allowed; use less than the 60 s"):
        LauncherConfig(time_min=1, signal_s=60)


def test_nothing_can_be_left_alone_that_runs_in_the_command_itself():
    with pytest.raises(ValueError) as caught:
        LauncherConfig(kind="serial", detach=True)
    assert str(caught.value) == (
        "launcher.detach: True is not allowed; use false, or launcher=local or slurm"
    )


@pytest.mark.parametrize(
    "key",
    ["array", "output", "error", "signal", "requeue", "no-requeue", "nodes", "ntasks-per-node",
     "ntasks_per_node", "no_requeue"],
)  # fmt: skip
def test_lines_for_sbatch_leave_alone_what_the_launcher_counts_on(key):
    with pytest.raises(ValueError) as caught:
        LauncherConfig(kind="slurm", sbatch={"mail-type": "END", key: "x"})
    told = str(caught.value)
    assert told.startswith("launcher.sbatch: {'mail-type': 'END', ")
    assert told.endswith(f"is not allowed; use it without {key}")
