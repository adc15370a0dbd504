import pytest
import torch
from tests.unit.trainer.rows import MODELS, VOCAB, make_model
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode
from transformers import LlamaConfig, Qwen3Config

from toolorchestra.trainer.flops import Costs, costs_of

SHAPE = {
    "vocab_size": 31,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def test_costs_by_hand():
    # A layer: queries and their output 16 * 32 weights each, keys and values 16 * 16 each, three
    # matrices of 16 * 24: 1024 + 512 + 1152 = 2688. Two operations a weight, two layers, and three
    # passes' worth: 12 * 2688. A pair: 2 * 32 for the score, as much for the value, again times 2
    # layers and 3 passes. A loss token: 16 * 31 weights, 2 operations, 3 passes.
    assert costs_of(Qwen3Config(**SHAPE, head_dim=8)) == Costs(
        per_token=12 * 2688, per_pair=6 * 128, per_loss_token=6 * 496
    )


def test_a_config_without_a_head_size_divides_the_width():
    # 16 / 4 = 4 a head: 2 * 16 * 16 + 2 * 16 * 8 + 1152 = 1920 weights; a pair 4 * 16 a layer.
    config = LlamaConfig(**SHAPE)
    config.head_dim = None
    costs = costs_of(config)
    assert (costs.per_token, costs.per_pair) == (12 * 1920, 6 * 64)


def test_tokens_attend_to_all_before_them_and_themselves():
    costs = Costs(per_token=100.0, per_pair=1.0, per_loss_token=1000.0)
    assert costs.of(0, 4, 0) == 400 + (1 + 2 + 3 + 4)
    # the last two alone: as many pairs as ever, but half the tokens
    assert costs.of(2, 4, 1) == 200 + (3 + 4) + 1000
    assert costs.of(3, 3, 2) == 2000


def test_a_sequence_costs_what_its_parts_do():
    costs = costs_of(Qwen3Config(**SHAPE, head_dim=8))
    assert costs.of(0, 9, 3) + costs.of(9, 20, 4) == pytest.approx(costs.of(0, 20, 7))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("num_tokens", [12, 48])
def test_costs_are_those_that_torch_counts(kind, num_tokens):
    model = make_model(kind=kind)
    costs = costs_of(model.config)
    counter = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), counter:  # torch counts no other attention on a CPU
        logits = model(input_ids=torch.arange(num_tokens)[None] % VOCAB).logits
        logits.square().sum().backward()
    # Torch computes all n * n pairs and masks half of them; the tree's kernels skip most of those.
    masked_pairs = num_tokens * (num_tokens - 1) / 2
    expected = costs.of(0, num_tokens, num_tokens) + costs.per_pair * masked_pairs
    # Beyond it torch counts rotary angles, 8 operations a token of more than 32,000.
    assert counter.get_total_flops() == pytest.approx(expected, rel=1e-3)
    assert counter.get_total_flops() > costs.of(0, num_tokens, num_tokens)
