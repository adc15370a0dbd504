import pytest
import torch

from toolorchestra.algorithm.losses import (
    cispo_losses,
    grpo_losses,
    log_ratio,
    sequence_log_ratio,
)

# ratio, A, loss, gradient w.r.t. log p, clipped; clip 0.8..1.3, dual clip 3
GRPO = [
    (0.5, 2.0, -1.0, -1.0, False),  # min(0.5 * 2, 0.8 * 2) = 1
    (1.5, 2.0, -2.6, 0.0, True),  # min(1.5 * 2, 1.3 * 2) = 2.6
    (0.5, -1.0, 0.8, 0.0, True),  # min(-0.5, -0.8) = -0.8
    (2.0, -1.0, 2.0, 2.0, False),  # min(-2, -1.3) = -2, less than 3 in size
    (8.0, -1.0, 3.0, 0.0, True),  # min(-8, -1.3) = -8, bounded at 3 * 1
    (1.0, 0.7, -0.7, -0.7, False),  # on policy: the policy gradient
    (1.1, 0.0, 0.0, 0.0, False),
]


@pytest.mark.parametrize(("ratio", "advantage", "loss", "gradient", "is_clipped"), GRPO)
def test_grpo_token_worked_out_by_hand(ratio, advantage, loss, gradient, is_clipped):
    log_ratio_T = torch.tensor([ratio], dtype=torch.float64).log().requires_grad_()
    out = grpo_losses(
        log_ratio_T, torch.tensor([advantage]), clip_low=0.2, clip_high=0.3, dual_clip=3.0
    )
    out.loss_T.sum().backward()
    assert out.loss_T.item() == pytest.approx(loss)
    assert log_ratio_T.grad.item() == pytest.approx(gradient)
    assert out.is_clipped_T.item() is is_clipped
    assert out.ratio_T.item() == pytest.approx(ratio)


def test_without_dual_clip_a_risen_token_pushes_unbounded():
    out = grpo_losses(
        torch.tensor([8.0]).log(), torch.tensor([-1.0]), clip_low=0.2, clip_high=0.3, dual_clip=0.0
    )
    assert out.loss_T.item() == pytest.approx(8.0)


def test_gspo_gives_each_token_the_geometric_mean_ratio_of_its_sequence():
    # Sequence 0: ln 2 and ln 1/2 cancel. Sequence 1: (ln 4 + ln 1) / 2 = ln 2, without the ln 9.
    log_ratio_T = torch.tensor([2.0, 0.5, 4.0, 9.0, 1.0]).log().requires_grad_()
    mask_T = torch.tensor([1, 1, 1, 0, 1]).bool()
    sequences_T = torch.tensor([0, 0, 1, 1, 1])
    means_T = sequence_log_ratio(log_ratio_T, mask_T, sequences_T, num_sequences=2)
    assert means_T.exp().tolist() == pytest.approx([1.0, 1.0, 2.0, 2.0, 2.0])
    # One token of a sequence moves its ratio by its share of the length.
    means_T.exp()[2].backward()
    assert log_ratio_T.grad.tolist() == pytest.approx([0.0, 0.0, 1.0, 0.0, 1.0])


def test_gspo_clips_whole_sequences():
    mask_T = torch.ones(4, dtype=torch.bool)
    sequences_T = torch.tensor([0, 0, 1, 1])
    log_ratio_T = torch.tensor([1.5, 1.5, 3.0, 1 / 3]).log()
    means_T = sequence_log_ratio(log_ratio_T, mask_T, sequences_T, num_sequences=2)
    out = grpo_losses(means_T, torch.ones(4), clip_low=0.2, clip_high=0.3, dual_clip=0.0)
    # Sequence 0: 1.5 clipped to 1.3; sequence 1: its tokens swing, its mean stays 1.
    assert out.loss_T.tolist() == pytest.approx([-1.3, -1.3, -1.0, -1.0])


def test_cispo_weighs_log_p_and_silences_no_token():
    # Weights 0.8, 1, 1.3 of ratios 0.5, 1, 2. Loss -w A log p: 0.8, -4, 0.65. Gradient -w A.
    logprobs_T = torch.tensor([-1.0, -2.0, -0.5], requires_grad=True)
    out = cispo_losses(
        torch.tensor([0.5, 1.0, 2.0]).log(),
        logprobs_T,
        torch.tensor([1.0, -2.0, 1.0]),
        clip_low=0.2,
        clip_high=0.3,
    )
    out.loss_T.sum().backward()
    assert out.loss_T.tolist() == pytest.approx([0.8, -4.0, 0.65])
    assert logprobs_T.grad.tolist() == pytest.approx([-0.8, 2.0, -1.3])
    assert out.is_clipped_T.tolist() == [True, False, True]


def test_cispo_sends_no_gradient_through_the_weight():
    logprobs_T = torch.tensor([-1.0], requires_grad=True)
    ratio_T = log_ratio(logprobs_T, torch.tensor([-1.1]), torch.tensor([True]))
    out = cispo_losses(ratio_T, logprobs_T, torch.tensor([1.0]), clip_low=0.2, clip_high=0.3)
    out.loss_T.sum().backward()
    assert logprobs_T.grad.item() == pytest.approx(-torch.tensor(0.1).exp().item())


@pytest.mark.parametrize("advantage", [2.0, -2.0])
@pytest.mark.parametrize("gap", [500.0, -500.0, 100.0])
def test_absurd_ratios_keep_loss_and_gradient_finite(advantage, gap):
    logprobs_T = torch.tensor([gap], requires_grad=True)
    ratio_T = log_ratio(logprobs_T, torch.tensor([0.0]), torch.tensor([True]))
    for dual_clip in (0.0, 10.0):
        out = grpo_losses(
            ratio_T, torch.tensor([advantage]), clip_low=0.2, clip_high=0.28, dual_clip=dual_clip
        )
        (gradient,) = torch.autograd.grad(out.loss_T.sum(), logprobs_T, retain_graph=True)
        assert torch.isfinite(out.loss_T).all()
        assert torch.isfinite(gradient).all()


def test_the_log_ratio_ignores_masked_positions_even_infinite_ones():
    logprobs_T = torch.tensor([-1.0, float("-inf")], requires_grad=True)
    ratio_T = log_ratio(logprobs_T, torch.tensor([-1.5, float("nan")]), torch.tensor([True, False]))
    ratio_T.sum().backward()
    assert ratio_T.tolist() == [0.5, 0.0]
    assert logprobs_T.grad.tolist() == [1.0, 0.0]
