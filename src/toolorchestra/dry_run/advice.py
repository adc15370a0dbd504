"""What is too big, and the option whose change was found to mend it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

from toolorchestra.config import Config
from toolorchestra.dry_run.gpus import GIB
from toolorchestra.dry_run.reckon import Reckoning, parts_of, shares_gpus
from toolorchestra.trainer.memory import peak_of

GPUS_OF_A_NODE = 8


def refuse_unless_it_fits(reckoning: Reckoning) -> None:
    """Checks a training rank, then a worker.

    Raises:
        ValueError: One of them needs more than a GPU has; it names the largest part and an option.
    """
    if reckoning.rank_needs > reckoning.gpu.memory_bytes:
        raise ValueError(_rank_refusal(reckoning))
    if reckoning.worker is not None:
        _check_worker(reckoning)


def _rank_refusal(reckoning: Reckoning) -> str:
    moment, _ = peak_of(reckoning.parts)
    present = (part for part in reckoning.parts if moment in part.moments)
    largest = max(present, key=lambda part: part.num_bytes)
    return (
        f"dry_run.gpu: {reckoning.options.dry_run.gpu!r} is too small; {moment}, a training rank "
        f"needs {reckoning.rank_needs / GIB:.1f} GiB of {reckoning.gpu.memory_gib:.1f}, most of it "
        f"for {largest.name} ({largest.num_bytes / GIB:.1f}); use {_cure(reckoning)}"
    )


def _cure(reckoning: Reckoning) -> str:
    """The first change after which a rank fits, alone or else with those before it."""
    cures = list(_cures(reckoning.options))
    joined = list(accumulate(cures, operator.or_))
    for changes in cures + joined:
        if _fits(reckoning, changes):
            return _told(changes)
    return "a GPU with more memory, or a smaller model"


def _cures(options: Config) -> Iterator[dict[str, Any]]:
    """Changes, those first that cost least."""
    trainer, longest = options.trainer, options.model.max_context
    is_divided = trainer.strategy == "deepspeed"
    if trainer.optimizer == "adamw":
        yield {"trainer.optimizer": "adamw_fused"}
    if is_divided and trainer.zero_stage < 2:
        yield {"trainer.zero_stage": 2}
    if not trainer.activation_checkpointing:
        yield {"trainer.activation_checkpointing": True}
    if trainer.micro_batch_tokens > longest:
        yield {"trainer.micro_batch_tokens": longest}
    if not is_divided:
        yield {
            "trainer.strategy": "deepspeed",
            "trainer.zero_stage": 2,
            "trainer.devices": GPUS_OF_A_NODE,
            "model.dtype": "bfloat16",
        }
        return
    if options.model.dtype == "float32":
        yield {"model.dtype": "bfloat16"}
    if trainer.zero_stage < 3:
        yield {"trainer.zero_stage": 3}
    for factor in (2, 4, 8) if trainer.zero_stage else ():
        if trainer.devices * factor <= GPUS_OF_A_NODE:
            yield {"trainer.devices": trainer.devices * factor}
        else:
            yield {"trainer.num_nodes": trainer.num_nodes * factor}
    if not trainer.offload_optimizer:
        yield {
            "trainer.zero_stage": max(trainer.zero_stage, 2),
            "trainer.offload_optimizer": True,
        }


def _fits(reckoning: Reckoning, changes: Mapping[str, Any]) -> bool:
    options = reckoning.options
    for group in ("trainer", "model"):
        own = {
            key.removeprefix(f"{group}."): value
            for key, value in changes.items()
            if key.startswith(group)
        }  # all of a group at once, as one may not be allowed without another
        options = replace(options, **{group: replace(getattr(options, group), **own)})
    parts = parts_of(options, reckoning.shape)
    return peak_of(parts)[1] + reckoning.rank_reserve <= reckoning.gpu.memory_bytes


def _told(changes: Mapping[str, Any]) -> str:
    return " ".join(
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in changes.items()
    )


def _check_worker(reckoning: Reckoning) -> None:
    worker, gpu, options = reckoning.worker, reckoning.gpu, reckoning.options
    assert worker is not None, "there is one"
    vllm, longest = options.rollout.vllm, options.model.max_context
    room = gpu.memory_bytes - worker.taken
    if shares_gpus(options) and worker.total > room:
        raise ValueError(
            f"rollout.vllm.first_gpu: {vllm.first_gpu} is not allowed; on a GPU that trains too, "
            f"{room / GIB:.1f} GiB are left of the {worker.total / GIB:.1f} that a worker takes, "
            f"use {options.trainer.devices} (trainer.devices), or rollout.vllm.sleep=true and a "
            "small rollout.vllm.kv_cache_gib"
        )
    if worker.total > room:
        raise ValueError(
            f"rollout.vllm.kv_cache_gib: {vllm.kv_cache_gib:g} is not allowed; a worker then takes "
            f"{worker.total / GIB:.1f} GiB of {gpu.memory_gib:.1f}, use 0 or less than "
            f"{max(gpu.memory_bytes - worker.weights - worker.reserve, 0) / GIB:.1f}"
        )
    if not worker.num_rollouts(longest):
        raise ValueError(
            f"rollout.vllm.tensor_parallel: {vllm.tensor_parallel} is not allowed; beside "
            f"{worker.weights / GIB:.1f} GiB of weights, keys and values have "
            f"{max(worker.kv_cache, 0) / GIB:.1f} GiB, and a rollout of {longest:,} tokens "
            f"(model.max_context) needs {worker.kv_per_token * longest / GIB:.1f}; use "
            f"{2 * vllm.tensor_parallel}, or less context"
        )
