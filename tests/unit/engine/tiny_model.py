"""A random Qwen3 policy of two layers and engines that sample from it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from tests.invariant.records import episode
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from transformers import Qwen3Config, Qwen3ForCausalLM

from toolorchestra.engine.base import Request
from toolorchestra.engine.sampling import sample, uniforms
from toolorchestra.engine.transformers_engine import TransformersEngine

torch.set_num_threads(1)  # passes this small only lose by more

EPISODE = episode()
MAX_LENGTH = 96


@cache
def tiny_model(seed: int = 0) -> Qwen3ForCausalLM:
    """Shared by all tests: take `fresh_model` to change its weights."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(qwen_tokenizer()),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        tie_word_embeddings=True,
        initializer_range=0.3,
    )
    return Qwen3ForCausalLM(config).eval()


def fresh_model(seed: int = 0) -> Qwen3ForCausalLM:
    """A copy whose weights a test may change."""
    return copy.deepcopy(tiny_model(seed))


def make_engine(model: Qwen3ForCausalLM | None = None, **changes: Any) -> TransformersEngine:
    options: dict[str, Any] = {
        "end_id": qwen_tokenizer().eos_token_id,
        "num_slots": 8,
        "max_length": MAX_LENGTH,
        "batch_wait_s": 1000.0,
        "prefill_tokens": 128,
    }
    return TransformersEngine(model or tiny_model(), **(options | changes))


def make_request(prompt_ids: Sequence[int], session: str = "a/0", **changes: Any) -> Request:
    fields: dict[str, Any] = {
        "prompt_ids": tuple(prompt_ids),
        "session": session,
        "seed": 7,
        "max_tokens": 6,
        "temperature": 1.0,
        "episode": EPISODE,
        "turns": (),
    }
    return Request(**(fields | changes))


@torch.inference_mode()
def full_logits(ids: Sequence[int], model: Qwen3ForCausalLM | None = None) -> torch.Tensor:
    """Logits after every id [L, V], computed in one pass without any memory."""
    logits: torch.Tensor = (model or tiny_model())(torch.tensor([list(ids)])).logits[0]
    return logits


def expected(
    request: Request, model: Qwen3ForCausalLM | None = None
) -> tuple[list[int], list[float]]:
    """What a request has to give: every token from a full pass over all that came before it."""
    ids: list[int] = []
    logprobs: list[float] = []
    seeds = np.array([request.seed], dtype=np.uint64)
    temperature = torch.tensor([request.temperature])
    while len(ids) < request.max_tokens and ids[-1:] != [qwen_tokenizer().eos_token_id]:
        logits = full_logits([*request.prompt_ids, *ids], model)[-1:]
        token, logprob = sample(logits, uniforms(seeds, len(ids)), temperature)
        ids.append(int(token))
        logprobs.append(float(logprob))
    return ids, logprobs
