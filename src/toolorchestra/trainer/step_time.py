"""How long a step would take: operations over operations a second, bytes over bytes a second.

Nothing is measured here. Every figure is a limit of the hardware times a share of it that is
assumed; what is left out (starting kernels, communication of gradients, stragglers) is in no phase.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.trainer.flops import FORWARD_AND_BACKWARD, Costs

TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """One part of a step."""

    name: str
    seconds: float
    how: str
    """Its formula, with the figures put in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Rollouts of one step, all alike."""

    num_groups: int
    group_size: int
    num_tokens: int
    """Of a rollout, all turns together."""
    num_prompt: int
    """Of these, what its group begins with alike."""
    num_sampled: int
    """Of these, what the policy samples."""
    num_turns: int
    tool_s: float
    """Seconds of one turn's tool calls."""

    @property
    def num_rollouts(self) -> int:
        """In all groups."""
        return self.num_groups * self.group_size


@dataclass(frozen=True, kw_only=True, slots=True)
class Samplers:
    """The vLLM workers, all alike."""

    num_workers: int
    gpus_each: int
    num_at_once: int
    """Rollouts that all of them together sample at once."""
    weight_bytes: float
    """On each GPU."""
    kv_per_token: float
    """Bytes, on each GPU."""
    bytes_per_s: float
    """Of memory that one GPU reads."""
    flops_per_s: float
    """Operations of one GPU."""


def sampling_phases(work: Work, samplers: Samplers, costs: Costs) -> list[Phase]:
    """Prefill, decoding and tools, as if all rollouts took the same turns at the same time.

    Every token that is sampled makes a GPU read all its weights, and the keys and values of the
    rollouts that it samples, here at their full length. Nothing is computed twice: workers find
    what they have computed before.
    """
    waves = max(work.num_rollouts / samplers.num_at_once, 1.0)
    each = min(work.num_rollouts, samplers.num_at_once) / samplers.num_workers
    read = samplers.weight_bytes + each * work.num_tokens * samplers.kv_per_token
    num_gpus = samplers.num_workers * samplers.gpus_each
    forward = costs.of(0, work.num_tokens, 0) / FORWARD_AND_BACKWARD
    share = 1 - work.num_sampled / work.num_tokens
    prefill = work.num_rollouts * forward * share
    times = "" if waves == 1 else f"{waves:.2f} waves × "
    return [
        Phase(
            name="prefill",
            seconds=prefill / (num_gpus * samplers.flops_per_s),
            how=f"{prefill:.2e} FLOP / ({_gpus(num_gpus)} × {_tera(samplers.flops_per_s)} FLOP/s)",
        ),
        Phase(
            name="decode",
            seconds=waves * work.num_sampled * read / samplers.bytes_per_s,
            how=f"{times}{work.num_sampled:,} tokens × ({_giga(samplers.weight_bytes)} weights + "
            f"{each:.4g} rollouts × {work.num_tokens:,} × {samplers.kv_per_token:,.0f} B) / "
            f"{_tera(samplers.bytes_per_s)} B/s",
        ),
        Phase(
            name="tools",
            seconds=waves * work.num_turns * work.tool_s,
            how=f"{times}{work.num_turns} turns × {work.tool_s:g} s",
        ),
    ]


def update_phase(
    work: Work,
    costs: Costs,
    *,
    num_ranks: int,
    flops_per_s: float,
    micro_batch_tokens: int,
    shares_prefixes: bool,
    is_checkpointed: bool,
    has_reference: bool = False,
) -> Phase:
    """Forward and backward passes over all rollouts, evenly divided among the ranks.

    A group that is larger than a micro-batch has its prompt computed once in each of its parts.
    Logits in chunks are computed twice in any case; with checkpointing, layers are too; a reference
    policy takes a forward pass more.

    Args:
        work: The rollouts.
        costs: Operations of forward and backward passes.
        num_ranks: Ranks.
        flops_per_s: Operations of one GPU.
        micro_batch_tokens: Tokens computed at once.
        shares_prefixes: Whether what rollouts begin with alike is computed once.
        is_checkpointed: Whether layers are computed again in the backward pass.
        has_reference: Whether a KL term needs another policy's log-probabilities.
    """
    layers = _layer_flops(work, costs, micro_batch_tokens if shares_prefixes else 1)
    head = work.num_rollouts * work.num_sampled * costs.per_loss_token
    extra = 1 if has_reference else 0
    layer_passes = FORWARD_AND_BACKWARD + extra + (1 if is_checkpointed else 0)
    head_passes = FORWARD_AND_BACKWARD + extra + 1
    flops = (layers * layer_passes + head * head_passes) / FORWARD_AND_BACKWARD
    return Phase(
        name="update",
        seconds=flops / (num_ranks * flops_per_s),
        how=f"({layers:.2e} FLOP × {layer_passes}/3 + {head:.2e} × {head_passes}/3 for logits) / "
        f"({_gpus(num_ranks)} × {_tera(flops_per_s)} FLOP/s)",
    )


def _layer_flops(work: Work, costs: Costs, micro_batch_tokens: int) -> float:
    own = work.num_tokens - work.num_prompt
    size = work.num_prompt + work.group_size * own
    num_prompts = min(-(-size // micro_batch_tokens), work.group_size)
    prompt = costs.of(0, work.num_prompt, 0)
    rest = costs.of(work.num_prompt, work.num_tokens, 0)
    return work.num_groups * (num_prompts * prompt + work.group_size * rest)


def transfer_phase(num_bytes: float, *, bytes_per_s: float) -> Phase:
    """New weights on their way to the workers, all at the same time."""
    return Phase(
        name="weights to workers",
        seconds=num_bytes / bytes_per_s,
        how=f"{_giga(num_bytes)} / {bytes_per_s / GIGA:g} GB/s",
    )


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def _tera(value: float) -> str:
    return f"{value / TERA:.4g}e12"


def _giga(num_bytes: float) -> str:
    return f"{num_bytes / GIGA:.3g} GB"
