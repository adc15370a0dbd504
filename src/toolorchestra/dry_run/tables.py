"""A dry run as tables: memory of a rank and of a worker, time of a step, what was assumed."""

from __future__ import annotations

from toolorchestra.dry_run.gpus import GIB
from toolorchestra.dry_run.reckon import TRANSFER_GB_PER_S, Reckoning, num_workers
from toolorchestra.report.table import Table
from toolorchestra.trainer.memory import (
    ALWAYS,
    PASSES,
    VALUE_BYTES,
    Part,
    offloaded_bytes,
    peak_of,
)


def tables_of(reckoning: Reckoning) -> list[Table]:
    """All tables, in the order in which they are read."""
    shown = [_rank_table(reckoning)]
    if reckoning.worker is not None:
        shown.append(_worker_table(reckoning))
    return [*shown, _time_table(reckoning), _assumptions(reckoning)]


def _rank_table(reckoning: Reckoning) -> Table:
    trainer, gpu = reckoning.options.trainer, reckoning.gpu
    moment, peak = peak_of(reckoning.parts)
    how = f"ZeRO {trainer.zero_stage}" if trainer.strategy == "deepspeed" else "plain PyTorch"
    ranks = f"{trainer.num_ranks} rank{'s' if trainer.num_ranks > 1 else ''}"
    needs = reckoning.rank_needs
    offloaded = offloaded_bytes(reckoning.shape, trainer)
    return Table(
        title=f"Memory of a training rank: {reckoning.options.model.name}, {ranks}, {how}",
        columns=("part", "GiB", "when", "how"),
        rows=(
            *((part.name, part.num_bytes / GIB, _when(part), part.how) for part in reckoning.parts),
            ("tensors at the peak", peak / GIB, str(moment), "the sum of what is then held"),
            ("reserve", reckoning.rank_reserve / GIB, "always", _reserve_how(reckoning)),
            ("needed", needs / GIB, "", ""),
            (gpu.name, gpu.memory_gib, "", "fits" if needs <= gpu.memory_bytes else "too small"),
        ),
        digits={"GiB": 1},
        note=f"And {offloaded / GIB:.1f} GiB of the CPU's memory, for each rank."
        if offloaded
        else "",
    )


def _reserve_how(reckoning: Reckoning) -> str:
    is_shared = reckoning.rank_reserve > reckoning.reserve
    return "dry_run.reserve_gib" + (", and that of a worker" if is_shared else "")


def _when(part: Part) -> str:
    if part.moments == ALWAYS:
        return "always"
    if part.moments >= PASSES:
        return "in both passes"
    return str(*part.moments)


def _worker_table(reckoning: Reckoning) -> Table:
    worker, options, gpu = reckoning.worker, reckoning.options, reckoning.gpu
    assert worker is not None, "there is one"
    shape, longest = reckoning.shape, options.model.max_context
    split = options.rollout.vllm.tensor_parallel
    room = max(worker.kv_cache / worker.kv_per_token, 0)
    share = worker.utilization
    source = "rollout.vllm.kv_cache_gib" if share is None else f"what is left of {share:.0%}"
    rows: list[tuple[str, float, str]] = [
        ("weights", worker.weights / GIB, f"on each of {split} GPUs" if split > 1 else "whole"),
        ("reserve", worker.reserve / GIB, "dry_run.reserve_gib"),
        ("keys and values", worker.kv_cache / GIB, f"{source}: {room:,.0f} tokens"),
        (gpu.name, gpu.memory_gib, ""),
    ]
    if worker.taken:
        rows.insert(3, ("training, meanwhile", worker.taken / GIB, "on the same GPU"))
    at_once = worker.num_rollouts(longest)
    assumed = worker.num_rollouts(reckoning.work.num_tokens)
    size = VALUE_BYTES[options.model.dtype]
    heads = -(-shape.num_key_value_heads // split)
    return Table(
        title=f"Memory of a vLLM worker's GPU, {num_workers(options)} of them",
        columns=("part", "GiB", "how"),
        rows=tuple(rows),
        digits={"GiB": 1},
        note=f"A token takes {worker.kv_per_token:,} B: 2 × {shape.num_hidden_layers} layers × "
        f"{heads} heads × {shape.head_dim} × {size} B. {at_once} rollouts of {longest:,} tokens "
        f"fit in at once, {assumed} of {reckoning.work.num_tokens:,}.",
    )


def _time_table(reckoning: Reckoning) -> Table:
    is_ahead = reckoning.options.rollout.max_staleness > 0
    total = "sampling beside the update" if is_ahead else "the sum: they take turns"
    note = ""
    if reckoning.worker is None:
        note = "Sampling is left out: only that by vLLM workers (rollout=vllm) is reckoned."
    return Table(
        title=f"Time of a step of {reckoning.work.num_rollouts} rollouts",
        columns=("phase", "seconds", "how"),
        rows=(
            *((phase.name, phase.seconds, phase.how) for phase in reckoning.phases),
            ("step", reckoning.step_s, total),
        ),
        digits={"seconds": 1},
        note=note,
    )


def _assumptions(reckoning: Reckoning) -> Table:
    assumed, work, gpu = reckoning.options.dry_run, reckoning.work, reckoning.gpu
    dtype = reckoning.options.model.dtype
    speed = assumed.transfer_gb_per_s
    if speed is None:
        speed = TRANSFER_GB_PER_S[reckoning.options.rollout.vllm.transfer]
    return Table(
        title="Assumed; set each as dry_run.<name>",
        columns=("name", "value", "what"),
        rows=(
            ("mfu", f"{assumed.mfu:g}", f"share of {gpu.peak_tflops[dtype]:g} TFLOP/s in {dtype}"),
            (
                "bandwidth_use",
                f"{assumed.bandwidth_use:g}",
                f"share of {gpu.bandwidth_tb_per_s:g} TB/s in decoding",
            ),
            ("rollout_tokens", f"{work.num_tokens:,}", "mean length of a rollout"),
            ("prompt_share", f"{assumed.prompt_share:g}", f"{work.num_prompt:,} tokens alike"),
            ("sampled_share", f"{assumed.sampled_share:g}", f"{work.num_sampled:,} tokens sampled"),
            ("num_turns", str(work.num_turns), "mean turns of a rollout"),
            ("tool_s", f"{assumed.tool_s:g}", "mean seconds of a turn's tools"),
            ("transfer_gb_per_s", f"{speed:g}", "weights to each worker"),
            ("reserve_gib", f"{assumed.reserve_gib:g}", "CUDA, NCCL, graphs, fragmentation"),
        ),
    )
