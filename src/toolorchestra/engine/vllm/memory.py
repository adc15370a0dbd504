"""What a vLLM worker has on each of its GPUs: weights, and room for keys and values."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.model.config import ShapeConfig
from toolorchestra.model.shape import num_weights

UTILIZATION = 0.92
"""Share of a GPU's memory that vLLM 0.33 takes by itself."""
FLAG = "--gpu-memory-utilization"
GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerMemory:
    """Bytes on one of a worker's GPUs."""

    weights: float
    reserve: float
    """CUDA, NCCL, CUDA graphs and what a forward pass computes."""
    kv_cache: float
    """Room for keys and values; below 0 where not even the weights fit in."""
    kv_per_token: float
    taken: float
    """What training holds on the same GPU in the meantime."""
    utilization: float | None
    """Share of the GPU that vLLM takes; None where the options state the room."""

    @property
    def total(self) -> float:
        """All that the worker takes, training left out."""
        return self.weights + self.reserve + self.kv_cache

    def num_rollouts(self, num_tokens: int) -> int:
        """Rollouts of so many tokens that fit in at once."""
        return max(int(self.kv_cache / (self.kv_per_token * num_tokens)), 0)


def worker_memory(
    shape: ShapeConfig,
    config: VllmConfig,
    *,
    num_bytes: int,
    gpu_bytes: float,
    reserve: float,
    taken: float = 0.0,
) -> WorkerMemory:
    """The memory of one worker.

    Args:
        shape: The model.
        config: The options.
        num_bytes: Of a value: 4 or 2.
        gpu_bytes: Memory of the GPU.
        reserve: Of it, what neither weights nor keys and values can have.
        taken: What training holds there in the meantime.
    """
    weights = num_bytes * num_weights(shape) / config.tensor_parallel
    share = None if config.kv_cache_gib else utilization_of(config)
    kv_cache = config.kv_cache_gib * GIB
    if share is not None:
        kv_cache = share * gpu_bytes - weights - reserve
    return WorkerMemory(
        weights=weights,
        reserve=reserve,
        kv_cache=kv_cache,
        kv_per_token=kv_per_token(shape, num_bytes, num_gpus=config.tensor_parallel),
        taken=taken,
        utilization=share,
    )


def kv_per_token(shape: ShapeConfig, num_bytes: int, *, num_gpus: int = 1) -> int:
    """Bytes of a token's keys and values on each GPU: 2 x layers x heads x size of a head.

    Heads are divided among the GPUs; each has one at least.
    """
    heads = -(-shape.num_key_value_heads // num_gpus)
    return 2 * shape.num_hidden_layers * heads * shape.head_dim * num_bytes


def utilization_of(config: VllmConfig) -> float:
    """The share of a GPU that vLLM takes, unless its own arguments say otherwise.

    Raises:
        ValueError: They say no share.
    """
    arguments = [part for text in config.extra_args for part in text.split("=", 1)]
    if FLAG not in arguments[:-1]:
        return UTILIZATION
    said = arguments[arguments.index(FLAG) + 1]
    try:
        return float(said)
    except ValueError as error:
        raise ValueError(
            f"rollout.vllm.extra_args: {FLAG} {said} is not allowed; use a share, e.g. 0.9"
        ) from error
