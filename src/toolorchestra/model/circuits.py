"""Weights that can copy and look up before any training: circuits in the first three layers.

A call repeats a name from the prompt, an answer repeats a tool's result, and the name that fits a
thought such as "math 5" is that of the tool whose description says so. A small model finds these
abilities late and by luck. So they are written in, after the induction circuit of Olsson et al.
(arXiv 2209.11895). Everything else starts at random, and low.

Tokens that belong together look alike: ratings that share a word, and a name as the user speaks it,
which is half the name and half the thought that the user asked; nothing else is like that thought.

The residual stream is split into a constant and five parts, each with room for a token's code: the
token's own, those of the token before and of the one before that, that of the thought which a call
acts on, and that of the latest name. Layer 0 looks back by position, layer 1 finds the latest name,
layer 2 matches:

    copying      finds where the last two tokens, or else the last, stood before; says what followed
    looking up   finds the token that the thought was; says the latest name there

A head with nothing to say attends to the chat's opening, which carries no code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers import Qwen3ForCausalLM

from toolorchestra.model.heads import HeadWriter

COPYING, LOOKING_UP = 3.0, 5.0
"""How much louder than the present token a copied one is, and a name looked up."""
SLOW_RADIANS = 0.5
"""Most that a rotary pair used for matching may turn over `reach` positions."""
QUIET = 0.1
"""How loud everything else is at first, against what transformers makes it."""
SILENT = 4.0
"""How strongly the opening draws a head that has nothing to say: more than any match."""
NUM_PARTS = 5
"""Of the residual stream, beside the constant and the mark of the opening."""
SQUARED_LENGTHS = (2.0, 5.0, 6.0)
"""Of the residual stream as the first layers read it: a constant and the parts written so far, each
of length 1."""
REPULSION_STEPS, REPULSION_RATE, REPULSION_SHARPNESS = 60, 0.3, 12.0
"""How codes are pushed apart: each away from those most like it."""


@dataclass(frozen=True, kw_only=True)
class Landmarks:
    """What the circuits go by in a chat's tokens."""

    opening: tuple[int, int]
    """Ids of the two tokens that every chat begins with, and that the policy never says."""
    before_name: int
    """Id of the token after which a tool's name stands, in prompt and call alike."""
    from_thought: int
    """Positions from a thought to that token in a call."""
    before_thought: int
    """Id of the token after which a thought stands."""
    asked: int
    """Id of the thought that the user named the tool."""
    spoken: Mapping[int, int] = field(default_factory=dict)
    """Ids of names as a user speaks them, and of the same names as a call has them."""
    phrases: Mapping[int, str] = field(default_factory=dict)
    """Ids of tokens that are several words, such as "math 5"."""


@torch.no_grad()
def write_circuits(model: Qwen3ForCausalLM, landmarks: Landmarks, *, reach: int) -> None:
    """Writes the circuits into a fresh model with tied embeddings.

    Args:
        model: At least three layers and three heads.
        landmarks: What to go by.
        reach: Tokens over which copying has to work.

    Raises:
        ValueError: if the model's shape leaves no room for the circuits.
    """
    config = model.config
    width, head_dim = config.hidden_size, config.head_dim
    code = min((width - 2) // NUM_PARTS, head_dim)
    angles: Tensor = model.model.rotary_emb.inv_freq
    slow = torch.nonzero(angles * reach <= SLOW_RADIANS).flatten()
    if config.num_hidden_layers < 3 or config.num_attention_heads < 3 or len(slow) < 8:
        raise ValueError(
            f"a model of {config.num_hidden_layers} layers, {config.num_attention_heads} heads and "
            f"{len(slow)} slow rotary pairs has no room for circuits that copy"
        )
    own, before, earlier, thought, name = (
        slice(1 + i * code, 1 + (i + 1) * code) for i in range(NUM_PARTS)
    )
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight *= QUIET
        layer.mlp.down_proj.weight *= QUIET
    embeddings = model.model.embed_tokens.weight
    embeddings.zero_()
    embeddings[:, 0] = 1.0
    embeddings[:, own] = _codes(len(embeddings), code)
    embeddings[list(landmarks.opening), own] = 0.0
    rest = own.stop + (NUM_PARTS - 1) * code
    embeddings[landmarks.opening[1], rest] = 1.0
    words = sorted({word for phrase in landmarks.phrases.values() for word in phrase.split()})
    codes = dict(zip(words, _codes(len(words), code), strict=True))
    for token, phrase in landmarks.phrases.items():
        total = torch.stack([codes[word] for word in phrase.split()]).sum(0)
        embeddings[token, own] = torch.nn.functional.normalize(total, dim=-1)
    asked = embeddings[landmarks.asked, own].clone()
    rest_of_codes = embeddings[:, own] - torch.outer(embeddings[:, own] @ asked, asked)
    embeddings[:, own] = torch.nn.functional.normalize(rest_of_codes, dim=-1)
    embeddings[landmarks.asked, own] = asked
    for token, name_id in landmarks.spoken.items():
        embeddings[token, own] = (asked + embeddings[name_id, own]) / math.sqrt(2)
    writer = HeadWriter(model, angles, slow, squared_lengths=SQUARED_LENGTHS)
    writer.look_back(layer=0, head=0, distance=1, read=own, write=before)
    writer.look_back(layer=0, head=1, distance=2, read=own, write=earlier)
    writer.look_back(layer=0, head=2, distance=landmarks.from_thought, read=own, write=thought)
    mark = embeddings[landmarks.before_name, own]
    writer.find_latest(layer=1, head=0, mark=mark, where=before, read=own, write=name)
    writer.find_latest_also(layer=1, head=0, mark=asked, read=own)
    writer.match(layer=2, head=0, query=own, key=before, read=own, write=own, size=COPYING)
    writer.match_also(layer=2, head=0, query=before, key=earlier)
    writer.match(layer=2, head=1, query=thought, key=own, read=name, write=own, size=LOOKING_UP)
    writer.rest(layer=2, head=1, where=rest, unless=mark, read=own, strength=SILENT)
    thinking = embeddings[landmarks.before_thought, own]
    writer.shun(layer=2, head=1, mark=thinking, where=before)  # the thought itself
    model.model.norm.weight.fill_(1.5)


def _codes(number: int, width: int) -> Tensor:
    """Directions, one a row, as unlike each other as there is room for."""
    codes = torch.nn.functional.normalize(torch.randn(number, width), dim=-1)
    for _ in range(REPULSION_STEPS):
        likeness = (codes @ codes.T).fill_diagonal_(-1.0)
        push = torch.softmax(REPULSION_SHARPNESS * likeness, dim=-1) @ codes
        codes = torch.nn.functional.normalize(codes - REPULSION_RATE * push, dim=-1)
    return codes
