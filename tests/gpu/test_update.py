"""The update on a GPU: FlexAttention over the tree, and DeepSpeed as Lightning ships it."""

from __future__ import annotations

import pytest
import torch
from tests.unit.trainer.rows import all_shapes, sampled_by
from transformers import Qwen3Config, Qwen3ForCausalLM

from toolorchestra.trainer.batch import make_micro_batch
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.logprobs import score_tokens
from toolorchestra.trainer.strategy import check_trainer, make_strategy

pytestmark = pytest.mark.gpu


def fresh() -> Qwen3ForCausalLM:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=31,
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            initializer_range=0.2,
        )
    )


def test_scores_and_gradients_are_those_of_the_cpu() -> None:
    there, here = fresh().cuda(), fresh()
    rows = list(sampled_by(here, all_shapes()))
    batch = make_micro_batch(rows)
    found, wanted = score_tokens(there, batch), score_tokens(here, batch)
    assert torch.allclose(found.logprobs_N.cpu(), wanted.logprobs_N, atol=1e-3)
    found.logprobs_N.sum().backward()
    wanted.logprobs_N.sum().backward()
    for name, weight in here.named_parameters():
        gradient = there.get_parameter(name).grad
        assert gradient is not None
        assert torch.allclose(gradient.cpu(), weight.grad, rtol=1e-2, atol=1e-3), name


@pytest.mark.parametrize("zero_stage", [1, 2, 3])
def test_deepspeed_is_lightnings_own_there(zero_stage: int) -> None:
    config = TrainerConfig(strategy="deepspeed", zero_stage=zero_stage)
    check_trainer(config, dtype="bfloat16")
    strategy = make_strategy(config, dtype="bfloat16")
    assert strategy.config["zero_optimization"]["stage"] == zero_stage
    assert strategy.process_group_backend == "nccl"
