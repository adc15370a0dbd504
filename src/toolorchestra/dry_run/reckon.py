"""From the options of a run to its memory and time, by arithmetic alone."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.config import Config
from toolorchestra.dry_run.gpus import GIB, Gpu, gpu_of
from toolorchestra.engine.vllm.memory import WorkerMemory, worker_memory
from toolorchestra.model.config import ShapeConfig
from toolorchestra.model.shape import num_weights, shape_of
from toolorchestra.trainer.activations import CHUNK_LOGITS, activations
from toolorchestra.trainer.flops import costs_of
from toolorchestra.trainer.memory import (
    VALUE_BYTES,
    Part,
    always_held,
    peak_of,
    training_parts,
)
from toolorchestra.trainer.step_time import (
    GIGA,
    TERA,
    Phase,
    Samplers,
    Work,
    sampling_phases,
    transfer_phase,
    update_phase,
)

TRANSFER_GB_PER_S = {"file": 2.0, "nccl": 50.0, "ipc": 50.0}
"""Where no speed is stated: a fast disk written and read; links between GPUs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reckoning:
    """All that is known of a run that was not made."""

    options: Config
    gpu: Gpu
    shape: ShapeConfig
    parts: tuple[Part, ...]
    """Of a training rank's memory."""
    worker: WorkerMemory | None
    """None where the policy is sampled without vLLM."""
    work: Work
    phases: tuple[Phase, ...]
    """Of a step."""

    @property
    def rank_needs(self) -> float:
        """Bytes of a GPU that trains, at its peak, with what no tensor can have."""
        return peak_of(self.parts)[1] + self.rank_reserve

    @property
    def rank_reserve(self) -> float:
        """Bytes of a GPU that trains which no tensor can have; a worker on it has its own."""
        is_shared = self.worker is not None and shares_gpus(self.options)
        return self.reserve * (2 if is_shared else 1)

    @property
    def reserve(self) -> float:
        """Bytes of each process that no tensor can have."""
        return self.options.dry_run.reserve_gib * GIB

    @property
    def step_s(self) -> float:
        """Seconds of a step: sampling and update at the same time, where staleness allows it."""
        update = sum(phase.seconds for phase in self.phases if phase.name == "update")
        moved = sum(phase.seconds for phase in self.phases if phase.name == "weights to workers")
        sampling = sum(phase.seconds for phase in self.phases) - update - moved
        if self.options.rollout.max_staleness:
            return max(sampling, update) + moved
        return sampling + update + moved


def reckon(options: Config) -> Reckoning:
    """Reckons with a run's options.

    Raises:
        ValueError: They name a model or a GPU that is not known, or belong to no run on GPUs.
    """
    assert options.dry_run.gpu is not None, "asked for"
    gpu = gpu_of(options.dry_run.gpu)
    _check(options)
    shape = shape_of(options.model)
    parts = parts_of(options, shape)
    worker = _worker(options, shape, gpu, parts)
    work = _work(options)
    return Reckoning(
        options=options,
        gpu=gpu,
        shape=shape,
        parts=tuple(parts),
        worker=worker,
        work=work,
        phases=tuple(_phases(options, shape, gpu, work, worker)),
    )


def parts_of(options: Config, shape: ShapeConfig) -> list[Part]:
    """Memory of a training rank."""
    trainer = options.trainer
    acts = activations(
        shape,
        num_tokens=trainer.micro_batch_tokens,
        num_bytes=VALUE_BYTES[options.model.dtype],
        is_checkpointed=trainer.activation_checkpointing,
        chunk_logits=CHUNK_LOGITS,
        has_entropy_gradient=options.algorithm.entropy_coef > 0,
    )
    return training_parts(
        shape, trainer, acts, dtype=options.model.dtype, has_reference=_has_reference(options)
    )


def num_workers(options: Config) -> int:
    """Servers that sample."""
    return len(options.rollout.vllm.urls) or options.rollout.vllm.num_workers


def shares_gpus(options: Config) -> bool:
    """Whether workers of this machine have GPUs that train too."""
    vllm = options.rollout.vllm
    return not vllm.urls and vllm.first_gpu < options.trainer.devices


def _has_reference(options: Config) -> bool:
    return options.algorithm.kl != "none"


def _check(options: Config) -> None:
    trainer, model = options.trainer, options.model
    if trainer.accelerator == "cpu":
        raise ValueError("trainer.accelerator: 'cpu' is not allowed with dry_run.gpu; use auto")
    trainer.check_dtype(model.dtype)
    if model.lora.rank:
        raise ValueError(
            f"model.lora.rank: {model.lora.rank} is not allowed with dry_run.gpu, which reckons "
            "with all weights trained; use 0"
        )
    if trainer.micro_batch_tokens < model.max_context:
        raise ValueError(
            f"trainer.micro_batch_tokens: {trainer.micro_batch_tokens} is not allowed; one rollout "
            f"may have more, use at least {model.max_context} (model.max_context)"
        )
    tokens = options.dry_run.rollout_tokens
    if tokens is not None and tokens > model.max_context:
        raise ValueError(
            f"dry_run.rollout_tokens: {tokens} is not allowed; use at most {model.max_context} "
            "(model.max_context)"
        )


def _worker(
    options: Config, shape: ShapeConfig, gpu: Gpu, parts: list[Part]
) -> WorkerMemory | None:
    if options.rollout.engine != "vllm":
        return None
    reserve = options.dry_run.reserve_gib * GIB
    taken = 0.0
    if shares_gpus(options):
        # a worker that sleeps through the update meets only what the trainer always holds
        held = always_held(parts) if options.rollout.vllm.sleep else peak_of(parts)[1]
        taken = held + reserve
    return worker_memory(
        shape,
        options.rollout.vllm,
        num_bytes=VALUE_BYTES[options.model.dtype],
        gpu_bytes=gpu.memory_bytes,
        reserve=reserve,
        taken=taken,
    )


def _work(options: Config) -> Work:
    assumed = options.dry_run
    num_tokens = assumed.rollout_tokens or max(options.model.max_context * 3 // 8, 4)
    return Work(
        num_groups=options.trainer.episodes_per_step,
        group_size=options.algorithm.group_size,
        num_tokens=num_tokens,
        num_prompt=max(int(num_tokens * assumed.prompt_share), 1),
        num_sampled=max(int(num_tokens * assumed.sampled_share), 1),
        num_turns=min(assumed.num_turns, options.rollout.max_turns),
        tool_s=assumed.tool_s,
    )


def _phases(
    options: Config, shape: ShapeConfig, gpu: Gpu, work: Work, worker: WorkerMemory | None
) -> list[Phase]:
    trainer, vllm, assumed = options.trainer, options.rollout.vllm, options.dry_run
    flops_per_s = assumed.mfu * gpu.peak_tflops[options.model.dtype] * TERA
    costs = costs_of(shape)
    update = update_phase(
        work,
        costs,
        num_ranks=trainer.num_ranks,
        flops_per_s=flops_per_s,
        micro_batch_tokens=trainer.micro_batch_tokens,
        shares_prefixes=trainer.share_prefixes,
        is_checkpointed=trainer.activation_checkpointing,
        has_reference=_has_reference(options),
    )
    if worker is None:
        return [update]
    count = num_workers(options)
    most = max(worker.num_rollouts(work.num_tokens) * count, 1)
    samplers = Samplers(
        num_workers=count,
        gpus_each=vllm.tensor_parallel,
        num_at_once=min(most, options.rollout.max_concurrent),
        weight_bytes=worker.weights,
        kv_per_token=worker.kv_per_token,
        bytes_per_s=assumed.bandwidth_use * gpu.bandwidth_tb_per_s * TERA,
        flops_per_s=flops_per_s,
    )
    speed = assumed.transfer_gb_per_s or TRANSFER_GB_PER_S[vllm.transfer]
    moved = VALUE_BYTES[options.model.dtype] * num_weights(shape)
    transfer = transfer_phase(moved, bytes_per_s=speed * GIGA)
    return [*sampling_phases(work, samplers, costs), update, transfer]
