"""Floating-point operations of an update, counted from the model's shape.

A multiplication and an addition count as two. The backward pass costs twice the forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FORWARD_AND_BACKWARD = 3
"""Forward passes that one of both is worth."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Costs:
    """Operations of a forward and a backward pass."""

    per_token: float
    """In all matrices but the output layer."""
    per_pair: float
    """For each token that another attends to, in all layers."""
    per_loss_token: float
    """In the output layer."""

    def of(self, start: int, end: int, num_loss_tokens: int) -> float:
        """Operations for the tokens `start` to `end` of a sequence, those before already done."""
        pairs = (end * (end + 1) - start * (start + 1)) / 2
        num_tokens = end - start
        return (
            self.per_token * num_tokens
            + self.per_pair * pairs
            + self.per_loss_token * num_loss_tokens
        )


def costs_of(config: Any) -> Costs:
    """Costs of a decoder of Llama's build (Qwen3, Llama, Mistral), read off its config."""
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    queries = config.num_attention_heads * head_dim
    keys = config.num_key_value_heads * head_dim
    weights = config.hidden_size * (2 * queries + 2 * keys + 3 * config.intermediate_size)
    layers = config.num_hidden_layers
    return Costs(
        per_token=FORWARD_AND_BACKWARD * 2.0 * weights * layers,
        per_pair=FORWARD_AND_BACKWARD * 4.0 * queries * layers,
        per_loss_token=FORWARD_AND_BACKWARD * 2.0 * config.hidden_size * config.vocab_size,
    )
