"""Weights that can copy before any training: an induction circuit in the first two layers.

A call repeats a name from the prompt, an answer repeats a tool's result; a small model finds this
ability late and by luck. So it is written in (the circuit of Olsson et al., arXiv 2209.11895). One
head of layer 0 looks at the token before; one head of layer 1 looks for positions whose token
before equals the present token, and says what stands there. Everything else starts at random.

The residual stream is split: one constant dimension, then a token's own code, then the code of the
token before it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from transformers import Qwen3ForCausalLM

HEAD = 0
NUM_FAST_PAIRS = 5
"""Rotary pairs that turn fast enough to tell neighbours apart."""
SHARPNESS = 2.4
"""Scale of queries and keys, so that a head attends to its best match alone."""
SAYING = 3.0
"""How much louder a copied token is than the present one."""
SLOW_RADIANS = 0.5
"""Most that a rotary pair used for matching may turn over `reach` positions."""


@torch.no_grad()
def write_induction(model: Qwen3ForCausalLM, *, reach: int) -> None:
    """Writes the circuit into a fresh model with tied embeddings.

    Args:
        model: At least two layers; its head width must not be less than half its width.
        reach: Tokens over which copying has to work.

    Raises:
        ValueError: if the model's shape leaves no room for the circuit.
    """
    config = model.config
    width, head_dim = config.hidden_size, config.head_dim
    code = (width - 2) // 2
    angles = _angles(model)
    slow = torch.nonzero(angles * reach <= SLOW_RADIANS).flatten()
    if config.num_hidden_layers < 2 or code > head_dim or len(slow) < 8:
        raise ValueError(
            f"a model of {config.num_hidden_layers} layers, width {width} and head width "
            f"{head_dim} with {len(slow)} slow rotary pairs has no room for an induction circuit"
        )
    own, before = slice(1, 1 + code), slice(1 + code, 1 + 2 * code)
    embeddings = model.model.embed_tokens.weight
    embeddings.zero_()
    embeddings[:, 0] = 1.0
    embeddings[:, own] = torch.nn.functional.normalize(torch.randn(len(embeddings), code), dim=-1)
    _write_look_back(model, angles, own, before)
    _write_match(model, slow, own, before)
    model.model.norm.weight.fill_(1.5)


def _angles(model: Qwen3ForCausalLM) -> Tensor:
    """Radians that each rotary pair turns a position."""
    angles: Tensor = model.model.rotary_emb.inv_freq
    return angles


def _write_look_back(model: Qwen3ForCausalLM, angles: Tensor, own: slice, before: slice) -> None:
    attention = model.model.layers[0].self_attn
    query, key, value, out = _blocks(attention, model.config.head_dim)
    half = model.config.head_dim // 2
    for pair in range(NUM_FAST_PAIRS):
        # query and key differ by just the turn of one position
        key[pair, 0] = 1.0
        query[pair, 0] = math.cos(float(angles[pair]))
        query[pair + half, 0] = -math.sin(float(angles[pair]))
    scale = _residual_rms(model)
    size = own.stop - own.start
    value[:size, own] = torch.eye(size) * scale
    out[before, :size] = torch.eye(size)
    attention.q_norm.weight.fill_(SHARPNESS)
    attention.k_norm.weight.fill_(SHARPNESS)


def _write_match(model: Qwen3ForCausalLM, slow: Tensor, own: slice, before: slice) -> None:
    attention = model.model.layers[1].self_attn
    query, key, value, out = _blocks(attention, model.config.head_dim)
    half = model.config.head_dim // 2
    size = own.stop - own.start
    places = torch.cat([slow, slow + half])[:size]
    for index, place in enumerate(places.tolist()):
        query[place, own.start + index] = 1.0
        key[place, before.start + index] = 1.0
    value[:size, own] = torch.eye(size)
    out[own, :size] = torch.eye(size) * SAYING * _residual_rms(model)
    attention.q_norm.weight.fill_(SHARPNESS)
    attention.k_norm.weight.fill_(SHARPNESS)


def _residual_rms(model: Qwen3ForCausalLM) -> float:
    """Root mean square of a residual vector with one constant and one code of length 1."""
    return math.sqrt(2.0 / float(model.config.hidden_size))


def _blocks(attention: torch.nn.Module, head_dim: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The circuit head's own parts of the projections, emptied."""
    rows = slice(HEAD * head_dim, (HEAD + 1) * head_dim)
    parts = (
        attention.q_proj.weight[rows],  # type: ignore[union-attr,index]
        attention.k_proj.weight[rows],  # type: ignore[union-attr,index]
        attention.v_proj.weight[rows],  # type: ignore[union-attr,index]
        attention.o_proj.weight[:, rows],  # type: ignore[union-attr,index]
    )
    for part in parts:
        part.zero_()
    return parts
