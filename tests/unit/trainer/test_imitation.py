"""Supervised training of a policy from scratch."""

from __future__ import annotations

from itertools import islice
from random import Random

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.imitation import (
    IGNORE,
    StageConfig,
    curriculum,
    fit,
    imitation_losses,
    repeated_span,
    span_losses,
)
from toolorchestra.types import Row


def tiny() -> Qwen3ForCausalLM:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=32,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=16,
            tie_word_embeddings=True,
        )
    )


def row(ids: tuple[int, ...], mask: tuple[int, ...]) -> TrainingRow:
    versions = tuple(0 if wanted else -1 for wanted in mask)
    record = Row(ids=ids, loss_mask=mask, logprobs=(0.0,) * len(ids), versions=versions)
    return TrainingRow(row=record, advantage=0.0, name="r")


def test_a_span_repeats_and_only_its_repetitions_carry_loss() -> None:
    ids, labels = repeated_span(Random(0), vocab=range(9), length=8, span=3, noise=0.0)

    assert ids[:3] == ids[3:6]
    assert ids[:2] == ids[6:8]
    assert labels == [IGNORE] * 3 + ids[3:]


def test_noise_breaks_some_repetitions() -> None:
    ids, _ = repeated_span(Random(0), vocab=range(1000), length=400, span=10, noise=0.2)
    broken = sum(ids[i] != ids[i - 10] for i in range(10, 400))

    # a pair differs where either was replaced: 1 - 0.8^2 = 36 %
    assert 0.26 < broken / 390 < 0.46


def test_curriculum_batches_have_one_row_a_span() -> None:
    rng = Random(0)
    ids, labels = next(curriculum(rng, range(3, 32), num_rows=4, length=20, span=5))

    assert ids.shape == labels.shape == (4, 20)
    assert (labels[:, :5] == IGNORE).all()
    assert len({tuple(r) for r in ids.tolist()}) == 4


def test_imitation_loss_is_that_of_the_sampled_tokens_alone() -> None:
    model = tiny()
    groups = [[row((1, 2, 3, 4), (0, 0, 1, 1)), row((1, 2, 5, 6), (0, 0, 1, 1))]]
    loss = next(imitation_losses(model, groups, Random(0), num_groups=1))

    with torch.no_grad():
        logprobs = torch.log_softmax(model(torch.tensor([[1, 2, 3, 4], [1, 2, 5, 6]])).logits, -1)
    wanted = [logprobs[0, 1, 3], logprobs[0, 2, 4], logprobs[1, 1, 5], logprobs[1, 2, 6]]
    torch.testing.assert_close(loss, -torch.stack(wanted).mean())


def test_fitting_learns_to_say_what_was_demonstrated() -> None:
    model = tiny()
    groups = [[row((1, 2, 3, 4), (0, 0, 1, 1))], [row((5, 2, 6, 7), (0, 0, 1, 1))]]
    seen: list[float] = []
    fit(
        model,
        imitation_losses(model, groups, Random(0), num_groups=2),
        StageConfig(num_steps=40, learning_rate=1e-2, warmup_steps=2),
        on_step=lambda step, loss: seen.append(loss),
    )

    assert len(seen) == 40
    assert seen[0] > 2.0 > 0.1 > seen[-1]


def test_the_rate_rises_and_then_falls_to_nothing() -> None:
    model = tiny()
    before = model.lm_head.weight.detach().clone()
    losses = span_losses(model, curriculum(Random(0), range(3, 32), num_rows=2, length=8, span=2))
    steps: list[float] = []
    fit(
        model,
        losses,
        StageConfig(num_steps=4, learning_rate=1e-3, warmup_steps=4),
        on_step=lambda step, loss: steps.append(
            float((model.lm_head.weight.detach() - before).abs().max())
        ),
    )
    moves = [b - a for a, b in zip([0.0, *steps], steps, strict=False)]

    # rates of 1/4, 1/2, 3/4 and 1/2 of the peak: Adam's first step moves by just the rate
    assert abs(moves[0] - 2.5e-4) < 5e-5
    assert next(islice(steps, 3, None)) > steps[0]
