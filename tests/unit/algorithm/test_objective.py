import math
from dataclasses import replace

import pytest
import torch

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.objective import Tokens, policy_objective

# Two sequences. Probabilities 0.5, 0.4 | 0.2, and a prompt token without a value.
NAN = float("nan")
P_T = torch.tensor([0.5, 0.4, NAN, 0.2], dtype=torch.float64)
SAMPLER_T = torch.tensor([0.5, 0.25, NAN, 0.25], dtype=torch.float64)
WIDE = AlgorithmConfig(geometric_low=0.0, geometric_high=100.0)


def tokens(**changes):
    fields = {
        "logprobs_T": P_T.log().requires_grad_(),
        "sampler_logprobs_T": SAMPLER_T.log(),
        "advantages_T": torch.tensor([1.0, 1.0, NAN, -2.0], dtype=torch.float64),
        "mask_T": torch.tensor([True, True, False, True]),
        "sequences_T": torch.tensor([0, 0, 1, 1]),
        "num_sequences": 2,
    }
    return Tokens(**(fields | changes))


def run(config, denominator=3.0, **changes):
    batch = tokens(**changes)
    out = policy_objective(batch, config, denominator=denominator)
    out.loss.backward()
    return out.loss.item(), batch.logprobs_T.grad.tolist(), out.stats.means()


def test_grpo_against_the_sampler_worked_out_by_hand():
    # Ratios 1, 1.6 (clipped at 1.28), 0.8 (at the bound, kept): losses -1, -1.28, 1.6.
    loss, gradient, means = run(WIDE)
    assert loss == pytest.approx((-1 - 1.28 + 1.6) / 3)
    assert gradient[:3] == pytest.approx([-1 / 3, 0.0, 0.0])
    assert means["clip_fraction"] == pytest.approx(1 / 3)
    assert means["ratio"] == pytest.approx((1 + 1.6 + 0.8) / 3)
    assert means["ratio_max"] == pytest.approx(1.6)
    assert means["logprob_gap"] == pytest.approx((math.log(1.6) + math.log(0.8)) / 3)
    assert means["logprob_gap_abs"] == pytest.approx((math.log(1.6) - math.log(0.8)) / 3)
    assert means["entropy"] == pytest.approx(-math.log(0.5 * 0.4 * 0.2) / 3)


def test_against_the_trainers_own_weights_the_importance_weight_corrects():
    # Old = current: ratios 1. Weights 1, 1.6, 0.8, cap 1.5. Losses -1, -1.5, 1.6; so the gradient.
    config = replace(WIDE, old_policy="trainer", tis_cap=1.5)
    loss, gradient, means = run(config, old_logprobs_T=P_T.log())
    assert loss == pytest.approx((-1 - 1.5 + 1.6) / 3)
    assert gradient == pytest.approx([-1 / 3, -1.5 / 3, 0.0, 1.6 / 3])
    assert means["importance_weight"] == pytest.approx((1 + 1.5 + 0.8) / 3)
    assert means["clip_fraction"] == 0.0


def test_a_drifted_sequence_gets_no_loss_and_the_denominator_stays():
    # Geometric means: sqrt(1.6) = 1.26 > 1.25 and 0.8.
    loss, gradient, means = run(replace(WIDE, geometric_high=1.25))
    assert loss == pytest.approx(1.6 / 3)
    assert gradient[:2] == [0.0, 0.0]
    assert means["rejected_fraction"] == pytest.approx(2 / 3)


def test_kl_adds_its_weighted_penalty():
    # k1 against a reference of 0.25 throughout: ln 2, ln 1.6, ln 0.8.
    plain, _, _ = run(WIDE)
    config = replace(WIDE, kl="k1", kl_coef=0.1)
    loss, _, means = run(config, ref_logprobs_T=torch.full((4,), 0.25, dtype=torch.float64).log())
    penalty = math.log(2 * 1.6 * 0.8) / 3
    assert loss - plain == pytest.approx(0.1 * penalty)
    assert means["kl"] == pytest.approx(penalty)


def test_the_entropy_bonus_lowers_the_loss():
    entropy_T = torch.tensor([0.3, 0.6, NAN, 0.9], dtype=torch.float64)
    plain, _, _ = run(WIDE)
    loss, _, means = run(replace(WIDE, entropy_coef=0.5), entropy_T=entropy_T)
    assert plain - loss == pytest.approx(0.5 * 0.6)
    assert means["entropy"] == pytest.approx(0.6)


def test_gspo_and_cispo_through_the_same_door():
    # GSPO: sqrt(1.6) clipped to 1.2 twice, 0.8: sequence means -1.2 and 1.6.
    gspo = replace(WIDE, loss="gspo", clip_high=0.2, aggregation="sequence_mean")
    assert run(gspo, denominator=2.0)[0] == pytest.approx((-1.2 + 1.6) / 2)
    # CISPO: weights 1, 1.28, 0.8 times -A log p.
    loss = -math.log(0.5) - 1.28 * math.log(0.4) + 2 * 0.8 * math.log(0.2)
    assert run(replace(WIDE, loss="cispo"))[0] == pytest.approx(loss / 3)


@pytest.mark.parametrize("loss", ["grpo", "gspo", "cispo"])
@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "dr_grpo"])
@pytest.mark.parametrize("is_decoupled", [True, False])
def test_with_everything_masked_loss_is_zero_and_all_is_finite(loss, aggregation, is_decoupled):
    config = AlgorithmConfig(loss=loss, aggregation=aggregation, kl="k3", kl_coef=0.1)
    value, gradient, means = run(
        config,
        denominator=1.0,
        mask_T=torch.zeros(4, dtype=torch.bool),
        old_logprobs_T=P_T.log() if is_decoupled else None,
        ref_logprobs_T=P_T.log(),
    )
    assert value == 0.0
    assert gradient == [0.0] * 4
    assert all(mean == 0.0 for mean in means.values())


def test_bfloat16_inputs_give_a_float32_loss():
    batch = tokens(
        logprobs_T=P_T.log().bfloat16().requires_grad_(),
        sampler_logprobs_T=SAMPLER_T.log().bfloat16(),
        advantages_T=torch.tensor([1.0, 1.0, 0.0, -2.0]).bfloat16(),
    )
    assert policy_objective(batch, WIDE, denominator=3.0).loss.dtype == torch.float32


def test_a_term_without_its_tensor_is_an_error():
    with pytest.raises(ValueError, match="algorithm.kl=k2 needs the reference policy"):
        run(replace(WIDE, kl="k2", kl_coef=0.1))
    with pytest.raises(ValueError, match="algorithm.entropy_coef=0.1 needs the entropy"):
        run(replace(WIDE, entropy_coef=0.1))
