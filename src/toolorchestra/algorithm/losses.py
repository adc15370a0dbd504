"""Policy losses of single tokens: GRPO, GSPO and CISPO.

Each takes log-ratios of the trained policy to the old one, so that the caller chooses what "old"
is. Nothing is summed here; see `aggregate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from toolorchestra.algorithm.segments import masked, segment_mean

# T: tokens of a micro-batch, padded or packed, flattened. S: its sequences

MAX_LOG_RATIO = 20.0
"""Log-ratios are held within this bound: exp of more overflows and turns gradients into NaN."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenLosses:
    """What a policy loss gives for each token."""

    loss_T: Tensor
    ratio_T: Tensor
    """Detached."""
    is_clipped_T: Tensor
    """Whether a bound took away the token's gradient (for CISPO: lowered its weight)."""


def log_ratio(logprobs_T: Tensor, old_logprobs_T: Tensor, mask_T: Tensor) -> Tensor:
    """log(p / p_old) of each token, bounded; 0 without gradient where the mask is false."""
    difference_T = masked(logprobs_T, mask_T) - masked(old_logprobs_T, mask_T)
    return difference_T.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def grpo_losses(
    log_ratio_T: Tensor,
    advantages_T: Tensor,
    *,
    clip_low: float,
    clip_high: float,
    dual_clip: float,
) -> TokenLosses:
    """-min(ratio A, clip(ratio, 1 - low, 1 + high) A) a token (Eq. 4; per token as in DAPO).

    With A < 0 the loss is at most dual_clip |A| (arXiv 1912.09729): the plain minimum lets a token
    that has become much likelier push without bound.

    Args:
        log_ratio_T: From `log_ratio`.
        advantages_T: The advantage of each token's rollout.
        clip_low: Lower clip distance.
        clip_high: Upper clip distance.
        dual_clip: Bound for A < 0; 0 for none.
    """
    ratio_T = log_ratio_T.exp()
    plain_T = -ratio_T * advantages_T
    clipped_T = -ratio_T.clamp(1 - clip_low, 1 + clip_high) * advantages_T
    loss_T = torch.maximum(plain_T, clipped_T)
    is_clipped_T = clipped_T > plain_T
    if dual_clip > 0:
        bound_T = -dual_clip * advantages_T
        is_bounded_T = (advantages_T < 0) & (loss_T > bound_T)
        loss_T = torch.where(is_bounded_T, bound_T, loss_T)
        is_clipped_T = is_clipped_T | is_bounded_T
    return TokenLosses(loss_T=loss_T, ratio_T=ratio_T.detach(), is_clipped_T=is_clipped_T)


def sequence_log_ratio(
    log_ratio_T: Tensor, mask_T: Tensor, sequences_T: Tensor, *, num_sequences: int
) -> Tensor:
    """The mean log-ratio of each token's sequence, at that token (GSPO, arXiv 2507.18071).

    GSPO is `grpo_losses` of this: one ratio a sequence, the geometric mean of its tokens' ratios.
    Its clip distances are about a thousandth of GRPO's.

    Args:
        log_ratio_T: From `log_ratio`.
        mask_T: True on loss tokens; the only ones in the mean.
        sequences_T: Sequence number of each token.
        num_sequences: S.
    """
    return segment_mean(log_ratio_T, mask_T, sequences_T, num_sequences)[sequences_T]


def cispo_losses(
    log_ratio_T: Tensor,
    logprobs_T: Tensor,
    advantages_T: Tensor,
    *,
    clip_low: float,
    clip_high: float,
) -> TokenLosses:
    """-stop_gradient(clip(ratio)) A log p a token (CISPO, arXiv 2506.13585).

    Clipping lowers a token's weight but never silences it, so that rare decisive tokens learn on.

    Args:
        log_ratio_T: From `log_ratio`.
        logprobs_T: Of the trained policy, finite.
        advantages_T: The advantage of each token's rollout.
        clip_low: Lower clip distance; 1 for no lower bound.
        clip_high: Upper clip distance.
    """
    ratio_T = log_ratio_T.detach().exp()
    weight_T = ratio_T.clamp(1 - clip_low, 1 + clip_high)
    loss_T = -weight_T * advantages_T * logprobs_T
    return TokenLosses(loss_T=loss_T, ratio_T=ratio_T, is_clipped_T=weight_T != ratio_T)
