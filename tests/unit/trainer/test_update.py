import math
from dataclasses import replace

import pytest
import torch
from tests.unit.trainer.rows import PROMPT_A, flat_logprobs, make_model, make_row

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.update import accumulate_gradients


def update(model, rows, algorithm=None, **changes):
    fields = {"max_tokens": 10, "micro_batch_tokens": 1000, "backward": torch.Tensor.backward}
    algorithm = algorithm or AlgorithmConfig(geometric_low=0.0, geometric_high=1e9)
    stats, _ = accumulate_gradients(model, rows, algorithm=algorithm, **(fields | changes))
    return stats


def with_ratio(model, item, ratio):
    """The row as sampled by a policy that gave each of its tokens 1 / ratio the probability."""
    with torch.no_grad():
        values = [0.0, *(flat_logprobs(model, item.row) - math.log(ratio)).tolist()]
    logprobs = tuple(v if bit else 0.0 for v, bit in zip(values, item.row.loss_mask, strict=True))
    return replace(item, row=replace(item.row, logprobs=logprobs))


def rows_by_hand(model):
    """Two tokens of ratio 1.2 with A = 1, one of ratio 1.5 with A = -2."""
    return [
        with_ratio(model, make_row(PROMPT_A, "scs", seed=1, advantage=1.0), 1.2),
        with_ratio(model, make_row(PROMPT_A, "s", seed=2, advantage=-2.0), 1.5),
    ]


@pytest.mark.parametrize(
    ("aggregation", "loss"),
    [
        # Losses -1.2, -1.2 | 3. Over 3 tokens; means of 2 sequences; over 2 sequences of 10 tokens.
        ("token_mean", (-2.4 + 3) / 3),
        ("sequence_mean", (-1.2 + 3) / 2),
        ("dr_grpo", (-2.4 + 3) / 20),
    ],
)
@pytest.mark.parametrize("micro_batch_tokens", [12, 1000])
def test_the_loss_by_hand(aggregation, loss, micro_batch_tokens):
    model = make_model()
    algorithm = AlgorithmConfig(geometric_low=0, geometric_high=1e9, aggregation=aggregation)
    stats = update(model, rows_by_hand(model), algorithm, micro_batch_tokens=micro_batch_tokens)
    assert stats["loss"] == pytest.approx(loss, abs=1e-5)
    assert stats["ratio"] == pytest.approx((1.2 + 1.2 + 1.5) / 3, abs=1e-5)
    assert stats["ratio_max"] == pytest.approx(1.5, abs=1e-5)


def test_against_the_trainers_own_weights_ratios_are_1_and_the_weight_is_bounded():
    # Weights 1.2, 1.2 | min(1.5, 1.3): losses -1.2, -1.2, 2 * 1.3.
    model = make_model()
    algorithm = AlgorithmConfig(
        geometric_low=0, geometric_high=1e9, old_policy="trainer", tis_cap=1.3
    )
    stats = update(model, rows_by_hand(model), algorithm)
    assert stats["loss"] == pytest.approx((-2.4 + 2.6) / 3, abs=1e-5)
    assert stats["ratio"] == pytest.approx(1.0, abs=1e-6)


def test_a_reference_equal_to_the_policy_adds_nothing():
    model = make_model()
    rows = rows_by_hand(model)
    algorithm = AlgorithmConfig(geometric_low=0, geometric_high=1e9, kl="k3", kl_coef=1.0)
    stats = update(model, rows, algorithm, reference=make_model())
    assert stats["kl"] == pytest.approx(0.0, abs=1e-9)
    assert stats["loss"] == pytest.approx(update(make_model(), rows)["loss"], abs=1e-9)
    assert update(model, rows, algorithm, reference=make_model(1))["kl"] > 0.01


def test_gradients_are_added_to_what_is_there():
    model = make_model()
    rows = rows_by_hand(model)
    update(model, rows)
    once = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    update(model, rows)
    for name, weight in model.named_parameters():
        assert torch.allclose(weight.grad, 2 * once[name])


def test_an_update_without_rows_is_a_mistake_of_the_caller():
    with pytest.raises(AssertionError, match="at least one row"):
        update(make_model(), [])
