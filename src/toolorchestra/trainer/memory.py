"""Bytes that one training rank needs, by part, and at which moment it needs most.

What DeepSpeed holds was read off its release 0.19.8 and is compared with it by tests. In bfloat16
it keeps a float32 copy of the weights, and sums gradients in float32: ZeRO 1 in a whole set of them
beside the bfloat16 ones of each pass, ZeRO 2 and 3 in a rank's own part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolorchestra.model.config import ShapeConfig
from toolorchestra.model.shape import head_weights, num_weights
from toolorchestra.trainer.activations import WIDE, Activations
from toolorchestra.trainer.config import TrainerConfig

VALUE_BYTES = {"float32": 4, "bfloat16": 2}
STATE_BYTES = {"adamw": 8.0, "adamw_fused": 8.0, "adamw_8bit": 2 + 2 * 4 / 256}
"""Both moments of a weight. In 8 bits, each block of 256 has a scale in float32."""
BUCKET = 500_000_000
"""Gradients that DeepSpeed sends at once, or one matrix, if that has more."""
LIVE, PREFETCHED = 1_000_000_000, 50_000_000
"""Weights that ZeRO 3 holds whole at most, and fetches ahead."""
SUB_GROUP = 1_000_000_000
"""Weights that ZeRO 3 updates at once."""


class Moment(StrEnum):
    """When memory is needed beside what is always held."""

    LAYING_OUT = "before the passes"
    HEAD = "in the output layer"
    LAYER = "in a layer's backward pass"
    REDUCING = "as ranks add up gradients"
    STEPPING = "in the update of weights"


ALWAYS = frozenset(Moment)
PASSES = frozenset({Moment.HEAD, Moment.LAYER})


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Memory with one use."""

    name: str
    num_bytes: float
    how: str
    """How it is reckoned."""
    moments: frozenset[Moment] = ALWAYS


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """Bytes a weight that a rank holds: of all weights, and of its own part of them."""

    whole: float = 0.0
    own: float = 0.0


def peak_of(parts: Sequence[Part]) -> tuple[Moment, float]:
    """The moment that needs most, and what it needs."""
    needs = {
        moment: sum(part.num_bytes for part in parts if moment in part.moments) for moment in Moment
    }
    return max(needs.items(), key=lambda item: item[1])


def always_held(parts: Sequence[Part]) -> float:
    """Bytes that are held at every moment."""
    return sum(part.num_bytes for part in parts if part.moments == ALWAYS)


def training_parts(
    shape: ShapeConfig,
    trainer: TrainerConfig,
    acts: Activations,
    *,
    dtype: str,
    has_reference: bool = False,
) -> list[Part]:
    """The parts of a rank's memory on a GPU; those that DeepSpeed puts off it are left out.

    Args:
        shape: The model; all its weights are trained.
        trainer: The options.
        acts: Of a full micro-batch.
        dtype: Of the weights.
        has_reference: Whether the policy of a KL term is held too.
    """
    s, count, ranks = VALUE_BYTES[dtype], num_weights(shape), trainer.num_ranks
    parts = [
        _held_part(name, held, count, ranks) for name, held in _holdings(trainer, dtype).items()
    ]
    if has_reference:
        parts.append(_held_part("reference policy", _Held(whole=s), count, ranks))
    return [
        *(part for part in parts if part.num_bytes),
        *_activation_parts(acts, trainer),
        *_communication(trainer, dtype, count, head_weights(shape)),
        *_step(trainer, dtype, count, head_weights(shape)),
    ]


def offloaded_bytes(shape: ShapeConfig, trainer: TrainerConfig) -> float:
    """What a rank holds in the CPU's memory: moments, float32 weights and their gradients."""
    if not (trainer.offload_optimizer and trainer.zero_stage):
        return 0.0
    each = STATE_BYTES[trainer.optimizer] + 2 * WIDE
    return each * num_weights(shape) / trainer.num_ranks


def _holdings(trainer: TrainerConfig, dtype: str) -> dict[str, _Held]:
    """What is always held of each weight."""
    s, states = VALUE_BYTES[dtype], STATE_BYTES[trainer.optimizer]
    is_mixed = dtype != "float32"
    stage = trainer.zero_stage if trainer.strategy == "deepspeed" else None
    if not stage:
        return {
            "weights": _Held(whole=s),
            "gradients": _Held(whole=s),
            "float32 copy of the weights": _Held(whole=WIDE if is_mixed else 0),
            "optimizer states": _Held(whole=states),
        }
    is_off = trainer.offload_optimizer
    if stage == 1:
        twice = is_mixed and not is_off  # those of a pass, and the float32 ones that they join
        gradients = _Held(whole=WIDE + (s if twice else 0))
    else:
        gradients = _Held(own=0 if stage == 3 and is_off else WIDE)
    return {
        "weights": _Held(own=s) if stage == 3 else _Held(whole=s),
        "gradients": gradients,
        "float32 copy of the weights": _Held(own=0 if is_off else WIDE),
        "optimizer states": _Held(own=0 if is_off else states),
    }


def _held_part(name: str, held: _Held, count: int, ranks: int) -> Part:
    how = [f"{held.whole:g} B"] if held.whole else []
    if held.own:
        how.append(f"{held.own:.4g} B" + (f" / {ranks} ranks" if ranks > 1 else ""))
    return Part(
        name=name,
        num_bytes=count * (held.whole + held.own / ranks),
        how=f"{count:,} weights × {' + '.join(how)}",
    )


def _activation_parts(acts: Activations, trainer: TrainerConfig) -> list[Part]:
    tokens = trainer.micro_batch_tokens
    kept, once = "what all layers compute", "gradients on their way"
    if trainer.activation_checkpointing:
        kept, once = "the inputs of layers", "gradients, a layer anew"
    return [
        Part(name="activations", num_bytes=acts.kept, how=_each(acts.kept, tokens, kept),
             moments=PASSES),
        Part(name="a layer", num_bytes=acts.layer, how=_each(acts.layer, tokens, once),
             moments=frozenset({Moment.LAYER})),
        Part(name="output layer", num_bytes=acts.head,
             how=f"logits in chunks; all at once: {acts.naive_head / 2**30:,.1f} GiB",
             moments=frozenset({Moment.HEAD})),
        Part(name="attention layout", num_bytes=acts.layout, how="pairs of blocks of 128 tokens"),
        Part(name="laying out", num_bytes=acts.laying_out, how=f"3 B × {tokens:,}²",
             moments=frozenset({Moment.LAYING_OUT})),
    ]  # fmt: skip


def _each(num_bytes: float, num_tokens: int, what: str) -> str:
    return f"{num_tokens:,} tokens × {num_bytes / num_tokens:,.0f} B: {what}"


def _communication(trainer: TrainerConfig, dtype: str, count: int, largest: int) -> list[Part]:
    """Gradients and weights on their way between ranks."""
    if trainer.strategy != "deepspeed":
        return []
    s, stage = VALUE_BYTES[dtype], trainer.zero_stage
    sent = min(max(BUCKET, largest), count)
    passing, reducing, how = 0, 0, f"a bucket of {BUCKET:,} gradients"
    if stage == 0:
        reducing = s * sent
    elif stage == 1 and dtype != "float32" and not trainer.offload_optimizer:
        reducing = s * count  # float32 gradients, one whole set, travel as a copy in bfloat16
    elif stage == 1:
        passing, reducing = WIDE * BUCKET, (WIDE + s) * sent if dtype != "float32" else 0
    elif stage == 2:
        passing, how = s * (BUCKET + sent), f"{how}, and a copy"
    else:
        passing = s * (BUCKET + sent + min(LIVE + PREFETCHED, count))
        how = f"{how}, a copy, and whole weights"
    reduction = frozenset({Moment.REDUCING})
    parts = [
        Part(name="communication", num_bytes=passing, how=how, moments=PASSES | reduction),
        Part(name="adding up", num_bytes=reducing, how="a copy to send", moments=reduction),
    ]
    return [part for part in parts if part.num_bytes]


def _step(trainer: TrainerConfig, dtype: str, count: int, largest: int) -> list[Part]:
    """What an update needs beside what it updates."""
    stage = trainer.zero_stage if trainer.strategy == "deepspeed" else None
    own = count / trainer.num_ranks if stage else count
    needed, how = 0.0, []
    if stage == 0 and dtype != "float32":
        needed, how = WIDE * own, ["gradients in float32"]
    elif stage == 2:
        needed, how = 2 * WIDE * min(largest, own), ["one norm in float64"]
    elif stage == 3:
        needed, how = WIDE * min(SUB_GROUP, own), ["gradients in one piece"]
    if stage in (1, 2) and dtype == "float32":
        needed, how = WIDE * own, ["gradients in one piece"]
    if trainer.optimizer == "adamw" and not (stage and trainer.offload_optimizer):
        needed += WIDE * own
        how.append("a root of each second moment")
    moments = frozenset({Moment.STEPPING})
    part = Part(name="update", num_bytes=needed, how=", ".join(how), moments=moments)
    return [part] if needed else []
