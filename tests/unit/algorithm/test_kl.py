import math

import pytest
import torch

from toolorchestra.algorithm.kl import kl_penalty

ALL = torch.tensor([True])

# p = 0.5, p_ref = 0.25: d = ln 0.5. k1 = ln 2; k2 = ln(2)^2 / 2; k3 = 0.5 - 1 + ln 2.
# Gradients w.r.t. log p: 1, -d = ln 2, 1 - exp(d) = 0.5.
LN2 = math.log(2)
BY_HAND = {"k1": (LN2, 1.0), "k2": (LN2**2 / 2, LN2), "k3": (LN2 - 0.5, 0.5)}


@pytest.mark.parametrize("kind", BY_HAND)
def test_estimate_and_gradient_worked_out_by_hand(kind):
    logprobs_T = torch.tensor([0.5], dtype=torch.float64).log().requires_grad_()
    penalty_T = kl_penalty(logprobs_T, torch.tensor([0.25]).double().log(), ALL, kind=kind)
    penalty_T.sum().backward()
    assert (penalty_T.item(), logprobs_T.grad.item()) == pytest.approx(BY_HAND[kind])


@pytest.mark.parametrize("kind", BY_HAND)
def test_the_penalty_of_equal_policies_is_zero(kind):
    logprobs_T = torch.tensor([-3.0])
    assert kl_penalty(logprobs_T, logprobs_T, ALL, kind=kind).item() == 0.0


def expectation(kind):
    """E_p of the estimate, and of its gradient w.r.t. the logits, over a vocabulary of three."""
    logits = torch.tensor([0.3, -0.2, 0.5], dtype=torch.float64, requires_grad=True)
    ref = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
    logprobs_T = logits.log_softmax(0)
    penalty_T = kl_penalty(logprobs_T, ref.log(), torch.ones(3, dtype=torch.bool), kind=kind)
    mean = (logprobs_T.exp().detach() * penalty_T).sum()
    return mean.item(), torch.autograd.grad(mean, logits)[0], logits, ref


def divergence_gradient(logits, ref, is_reverse=False):
    p = logits.softmax(0)
    kl = (ref * (ref / p).log()).sum() if is_reverse else (p * (p / ref).log()).sum()
    return kl.item(), torch.autograd.grad(kl, logits)[0]


def test_k1_and_k3_have_the_divergence_as_their_mean():
    for kind in ("k1", "k3"):
        mean, _, logits, ref = expectation(kind)
        assert mean == pytest.approx(divergence_gradient(logits, ref)[0])


def test_in_expectation_k2_has_the_gradient_of_the_divergence_k1_none_and_k3_the_reverse():
    _, k2, logits, ref = expectation("k2")
    assert torch.allclose(k2, divergence_gradient(logits, ref)[1])
    assert torch.allclose(expectation("k1")[1], torch.zeros(3).double())
    _, k3, logits, ref = expectation("k3")
    assert torch.allclose(k3, divergence_gradient(logits, ref, is_reverse=True)[1])


@pytest.mark.parametrize("kind", BY_HAND)
@pytest.mark.parametrize("gap", [300.0, -300.0])
def test_absurd_gaps_stay_finite(kind, gap):
    logprobs_T = torch.tensor([gap], requires_grad=True)
    penalty_T = kl_penalty(logprobs_T, torch.zeros(1), ALL, kind=kind)
    penalty_T.sum().backward()
    assert torch.isfinite(penalty_T).all()
    assert torch.isfinite(logprobs_T.grad).all()


def test_an_unknown_estimator_is_named():
    with pytest.raises(ValueError, match="'k4' is not allowed; use k1, k2 or k3"):
        kl_penalty(torch.zeros(1), torch.zeros(1), ALL, kind="k4")
