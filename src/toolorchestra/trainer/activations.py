"""Bytes of a micro-batch's activations, tensor by tensor, for a decoder of Qwen3's build.

What one layer keeps of a token for its backward pass, in the notation of the functions below:

    both norms        2 ((4 + s) D + 4)       in float32, then normalised, and the factor
    inputs of q k v, gate up      2 s D
    norms of q and k  (4 + s) (Q + K) + 4 (heads of both)
    attention         s (2 Q + 2 K) + 8 heads   queries, keys, values, output; two sums each head
    MLP               4 s F                   gate, its silu, up, their product

The output of attention is the input of its last matrix, and stands there once.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.model.config import ShapeConfig
from toolorchestra.model.shape import head_weights, head_widths

# s: bytes of a value, D: width, F: width inside the MLP, Q and K: values of a token's queries, keys

CHUNK_LOGITS = 2**26
"""Logits of one chunk of the output layer."""
WIDE = 4
"""Bytes of a float32: norms and probabilities are computed in nothing smaller."""
CHUNK_COPIES = 3
"""Tensors of a chunk's logits at once: logits, their softmax, and a product or a gradient."""
CHUNK_COPIES_WITH_ENTROPY = 6
"""The same where entropy is in the loss and has a gradient too."""
HEAD_GRADIENTS = 3
"""Gradients of the output layer at once: a chunk's, those of the chunks before it, their sum."""
BLOCK = 128
"""Tokens of one block of FlexAttention's mask."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Activations:
    """Bytes, by what they are for."""

    kept: float
    """From the forward pass until the backward pass of each layer."""
    layer: float
    """While one layer's backward pass runs: what is computed again, and gradients on their way."""
    head: float
    """While the output layer runs."""
    naive_head: float
    """The same, were all logits computed at once: for comparison."""
    layout: float
    """Kept by attention to know who sees whom."""
    laying_out: float
    """While that is made."""


def activations(
    shape: ShapeConfig,
    *,
    num_tokens: int,
    num_bytes: int,
    is_checkpointed: bool,
    chunk_logits: int,
    has_entropy_gradient: bool = False,
) -> Activations:
    """Activations on a GPU of one micro-batch, all of whose tokens carry loss.

    Args:
        shape: The model.
        num_tokens: Tokens of the micro-batch, shared ones counted once.
        num_bytes: Of a value: 4 or 2.
        is_checkpointed: Whether a layer keeps only its input.
        chunk_logits: Most logits at once.
        has_entropy_gradient: Whether entropy is in the loss.
    """
    one = layer_bytes(shape, num_bytes) + flex_bytes(shape, num_bytes)
    copies = CHUNK_COPIES_WITH_ENTROPY if has_entropy_gradient else CHUNK_COPIES
    all_logits = num_tokens * shape.vocab_size
    blocks = -(-num_tokens // BLOCK)
    return Activations(
        kept=num_tokens * kept_bytes(shape, num_bytes, one, is_checkpointed=is_checkpointed),
        layer=num_tokens * (passing_bytes(shape, num_bytes) + (one if is_checkpointed else 0)),
        head=num_tokens * last_bytes(shape, num_bytes)
        + head_bytes(shape, num_bytes, min(chunk_logits, all_logits), copies=copies),
        naive_head=num_tokens * last_bytes(shape, num_bytes)
        + head_bytes(shape, num_bytes, all_logits, copies=copies),
        layout=16 * blocks**2 + 16 * blocks + 8 * num_tokens,  # indices both ways, and ends
        laying_out=3 * num_tokens**2,  # three tables of who sees whom, a byte each
    )


def layer_bytes(shape: ShapeConfig, num_bytes: int) -> int:
    """What one layer keeps of a token, attention itself left out."""
    s, wide, (queries, keys) = num_bytes, shape.hidden_size, head_widths(shape)
    norms = 2 * ((WIDE + s) * wide + WIDE)
    inputs = 2 * s * wide
    heads = shape.num_attention_heads + shape.num_key_value_heads
    head_norms = (WIDE + s) * (queries + keys) + WIDE * heads
    return norms + inputs + head_norms + 4 * s * shape.intermediate_size


def flex_bytes(shape: ShapeConfig, num_bytes: int) -> int:
    """What FlexAttention keeps of a token in one layer."""
    queries, keys = head_widths(shape)
    return num_bytes * (2 * queries + 2 * keys) + 2 * WIDE * shape.num_attention_heads


def kept_bytes(shape: ShapeConfig, num_bytes: int, layer: int, *, is_checkpointed: bool) -> int:
    """What all layers keep of a token: `layer` bytes each or their inputs; and the rotations."""
    each = num_bytes * shape.hidden_size if is_checkpointed else layer
    return shape.num_hidden_layers * each + 2 * num_bytes * shape.head_dim


def passing_bytes(shape: ShapeConfig, num_bytes: int) -> int:
    """Gradients of a token at once: of the layer's output, and of both factors of the MLP."""
    return num_bytes * (shape.hidden_size + 2 * shape.intermediate_size)


def last_bytes(shape: ShapeConfig, num_bytes: int) -> int:
    """What the last norm and the output layer keep of a token."""
    return (WIDE + num_bytes) * shape.hidden_size + WIDE + num_bytes * shape.hidden_size


def head_bytes(shape: ShapeConfig, num_bytes: int, num_logits: int, *, copies: int) -> int:
    """What the output layer takes for so many logits, and for the gradient of its weights."""
    return copies * WIDE * num_logits + HEAD_GRADIENTS * num_bytes * head_weights(shape)
