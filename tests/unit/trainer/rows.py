"""A tiny model in double precision, and rows of every awkward shape."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.flops import costs_of
from toolorchestra.trainer.logprobs import score_tokens
from toolorchestra.trainer.ranks import Ranks
from toolorchestra.trainer.update import Gradients, Score, accumulate_gradients
from toolorchestra.types import Row

VOCAB = 31
MAX_TOKENS = 12
"""Most that a rollout could have sampled, as `dr_grpo` takes it."""
PROMPT_A, PROMPT_B = (3, 1, 4, 1, 5, 9, 2), (3, 1, 4, 8)

MODELS = {
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
    "llama": (LlamaConfig, LlamaForCausalLM),
}


def make_model(seed: int = 0, *, is_tied: bool = True, kind: str = "qwen3") -> PreTrainedModel:
    torch.manual_seed(seed)
    config_class, model_class = MODELS[kind]
    config = config_class(
        vocab_size=VOCAB,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=64,
        initializer_range=0.5,
        tie_word_embeddings=is_tied,
        attn_implementation="sdpa",
    )
    model = model_class(config).double()
    for parent in list(model.modules()):
        for name, norm in list(parent.named_children()):
            if type(norm).__name__.endswith("RMSNorm"):  # it computes in single precision
                own = torch.nn.RMSNorm(norm.weight.shape[0], norm.variance_epsilon)
                setattr(parent, name, own.double())
    return model


def row_of(
    ids: Sequence[int], loss_mask: Sequence[int], *, advantage: float = 1.0, name: str = "e/0"
) -> TrainingRow:
    return TrainingRow(
        row=Row(
            ids=tuple(ids),
            loss_mask=tuple(loss_mask),
            logprobs=tuple(-1.0 if bit else 0.0 for bit in loss_mask),
            versions=tuple(0 if bit else -1 for bit in loss_mask),
        ),
        advantage=advantage,
        name=name,
    )


def make_row(
    prompt: Sequence[int], rest: str, *, seed: int, advantage: float = 1.0, name: str = "e/0"
) -> TrainingRow:
    """`rest` holds one letter a token behind the prompt: s for sampled, c for context."""
    rng = random.Random(seed)
    ids = (*prompt, *(rng.randrange(VOCAB) for _ in rest))
    loss_mask = (*(0 for _ in prompt), *(int(letter == "s") for letter in rest))
    return row_of(ids, loss_mask, advantage=advantage, name=name)


def all_shapes() -> list[TrainingRow]:
    """Groups of several rows, prompts that begin alike, rewritten history, and no prompt at all;
    equal seeds give rows that say the same, for as long as they go on."""
    return [
        make_row(PROMPT_A, "ssscccss", seed=1, advantage=1.2, name="a/0"),
        make_row(PROMPT_A, "s", seed=2, advantage=-0.7, name="a/1"),
        make_row(PROMPT_A, "sscs", seed=3, advantage=0.4, name="a/2"),
        make_row((*PROMPT_A, 6, 6), "ccss", seed=4, advantage=0.4, name="a/2"),
        make_row(PROMPT_A, "ssscccss", seed=1, advantage=-0.9, name="a/3"),  # what a/0 says
        make_row(PROMPT_B, "ssssscccc", seed=5, advantage=-1.5, name="b/0"),
        make_row(PROMPT_B, "ss", seed=6, advantage=0.9, name="b/1"),
        make_row(PROMPT_B, "sss", seed=5, advantage=0.6, name="b/2"),  # b/0 goes on
        make_row((7,), "sss", seed=7, advantage=0.8, name="c/0"),  # the shared part is empty
        make_row((), "sscs", seed=8, advantage=-0.3, name="c/1"),  # nothing predicts its first
    ]


def num_prefixes(sequences: Sequence[Sequence[int]]) -> int:
    """How many different beginnings sequences have: the tokens of their tree, counted plainly."""
    return len({tuple(ids[: n + 1]) for ids in sequences for n in range(len(ids))})


def ids_of(rows: Sequence[TrainingRow]) -> list[tuple[int, ...]]:
    return [item.row.ids for item in rows]


def predicted(row: Row) -> Tensor:
    """Bool, of each id but the first: whether it is a loss token."""
    return torch.tensor(row.loss_mask[1:], dtype=torch.bool)


def flat_logprobs(model: PreTrainedModel, row: Row) -> Tensor:
    """Log-probability of each id of a row but the first, by the plain model, alone in its batch."""
    ids = torch.tensor([row.ids])
    logprobs = torch.log_softmax(model(input_ids=ids).logits[0, :-1], dim=-1)
    return logprobs.gather(-1, ids[0, 1:, None]).squeeze(-1)


def flat_scores(model: PreTrainedModel, rows: Sequence[TrainingRow]) -> Tensor:
    """Log-probabilities of the loss tokens, row by row."""
    return torch.cat([flat_logprobs(model, item.row)[predicted(item.row)] for item in rows])


def sampled_by(model: PreTrainedModel, rows: Sequence[TrainingRow]) -> Iterator[TrainingRow]:
    """The rows with the log-probabilities that `model` gives them, a little off, as a sampler's."""
    rng = random.Random(0)
    for item in rows:
        with torch.no_grad():
            values = [0.0, *flat_logprobs(model, item.row).tolist()]
        logprobs = tuple(
            value + rng.uniform(-0.1, 0.1) if bit else 0.0
            for value, bit in zip(values, item.row.loss_mask, strict=True)
        )
        yield replace(item, row=replace(item.row, logprobs=logprobs))


def update(
    model: PreTrainedModel,
    rows: Sequence[TrainingRow],
    algorithm: AlgorithmConfig | None = None,
    *,
    score: Score | None = None,
    reference: PreTrainedModel | None = None,
    ranks: Any = None,
    **trainer: Any,
) -> Gradients:
    """One update's gradient, in one process."""
    return accumulate_gradients(
        score or partial(score_tokens, model),
        rows,
        costs=costs_of(model.config),
        algorithm=algorithm or AlgorithmConfig(),
        trainer=TrainerConfig(**trainer),
        max_tokens=MAX_TOKENS,
        backward=lambda loss, is_last: loss.backward(),
        ranks=ranks or Ranks(),
        reference=None if reference is None else partial(score_tokens, reference),
    )


def gradients(model: PreTrainedModel) -> dict[str, Tensor]:
    """Takes the model's gradients out of it."""
    found = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    return found


def largest_gap(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> float:
    assert ours.keys() == theirs.keys()
    return max(float((ours[name] - theirs[name]).abs().max()) for name in theirs)
