"""Supervised training of a policy from scratch."""

from __future__ import annotations

from random import Random

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.types import Row
from toolorchestra.warmstart.config import ImitationConfig
from toolorchestra.warmstart.imitation import fit, imitation_losses


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
        ImitationConfig(num_steps=40, learning_rate=1e-2, warmup_steps=2),
        on_step=lambda step, loss: seen.append(loss),
    )

    assert len(seen) == 40
    assert seen[0] > 2.0 > 0.1 > seen[-1]


def test_the_rate_rises_to_its_peak_and_falls_over_the_second_half() -> None:
    model = tiny()
    groups = [[row((1, 2, 3, 4), (0, 0, 1, 1))]]
    weights: list[torch.Tensor] = [model.model.norm.weight.detach().clone()]
    fit(
        model,
        imitation_losses(model, groups, Random(0), num_groups=1),
        ImitationConfig(num_steps=4, learning_rate=1e-3, warmup_steps=2),
        on_step=lambda step, loss: weights.append(model.model.norm.weight.detach().clone()),
    )
    moves = [float((b - a).abs().max()) for a, b in zip(weights, weights[1:], strict=False)]

    # the rates are 1/2, 1, 1 and 1/2 of the peak; Adam's first step moves by just the rate
    assert abs(moves[0] - 5e-4) < 2e-5
    assert moves[1] > 1.5 * moves[0]
    assert moves[3] < 0.8 * moves[2]
