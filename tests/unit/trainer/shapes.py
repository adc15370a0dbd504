"""Small models of Qwen3's build whose memory is measured, and Qwen3-8B's shape."""

from __future__ import annotations

import random
from dataclasses import fields

import torch
from transformers import PreTrainedModel, Qwen3Config, Qwen3ForCausalLM

from toolorchestra.model.config import ShapeConfig
from toolorchestra.model.shape import head_widths
from toolorchestra.trainer.batch import MicroBatch, TrainingRow, make_micro_batch
from toolorchestra.types import Row

QWEN3_8B = ShapeConfig(
    of="Qwen/Qwen3-8B",
    num_hidden_layers=36,
    hidden_size=4096,
    intermediate_size=12288,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
    vocab_size=151936,
    tie_word_embeddings=False,
)


def shape(**changes: int) -> ShapeConfig:
    """Four layers, 256 wide, queries in groups of two."""
    sizes: dict[str, int] = {
        "num_hidden_layers": 4,
        "hidden_size": 256,
        "intermediate_size": 768,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "vocab_size": 2048,
        "tie_word_embeddings": False,
    }
    return ShapeConfig(of="small", **(sizes | changes))


def model_of(
    of: ShapeConfig, dtype: str = "float32", *, is_checkpointed: bool = False
) -> PreTrainedModel:
    """A model of this shape, ready to be trained."""
    torch.manual_seed(0)
    sizes = {item.name: getattr(of, item.name) for item in fields(of) if item.name != "of"}
    model = Qwen3ForCausalLM(Qwen3Config(**sizes, max_position_embeddings=4096))
    if is_checkpointed:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model.to(getattr(torch, dtype)).train()


def random_rows(num_rows: int, length: int, *, vocab: int) -> list[TrainingRow]:
    """Rows of random tokens, all but the first of which carry loss."""
    rng = random.Random(0)
    return [
        TrainingRow(
            row=Row(
                ids=tuple(rng.randrange(vocab) for _ in range(length)),
                loss_mask=(0,) + (1,) * (length - 1),
                logprobs=(0.0,) + (-1.0,) * (length - 1),
                versions=(-1,) + (0,) * (length - 1),
            ),
            advantage=1.0,
            name=f"episode-{number}/0",
        )
        for number in range(num_rows)
    ]


def random_batch(num_rows: int, length: int, *, vocab: int) -> MicroBatch:
    """The same as a micro-batch that shares nothing."""
    return make_micro_batch(random_rows(num_rows, length, vocab=vocab), share_prefixes=False)


def sdpa_bytes(of: ShapeConfig, num_bytes: int, *, length: int) -> int:
    """What attention on a CPU keeps of a token in one layer, for rows of one length.

    Queries, keys and values put together by row, the output in that order and in the line's, a sum
    for each head. The mask is in float32 and serves all layers; in bfloat16 each has a copy.
    """
    queries, keys = head_widths(of)
    mask = num_bytes * length if num_bytes == 2 else 0
    return num_bytes * (3 * queries + 2 * keys) + 4 * of.num_attention_heads + mask
