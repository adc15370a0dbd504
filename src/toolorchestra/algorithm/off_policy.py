"""Correction for tokens that another policy sampled: older weights, or an engine that rounds
differently.

A weight a token, truncated, keeps the variance down; a whole sequence that drifted is masked. The
product of a sequence's ratios is avoided: it shrinks or explodes with length alone.
"""

from __future__ import annotations

import torch
from torch import Tensor

from toolorchestra.algorithm.losses import log_ratio
from toolorchestra.algorithm.segments import segment_mean

# T: tokens of a micro-batch, padded or packed, flattened


@torch.no_grad()
def truncated_weights(
    logprobs_T: Tensor, sampler_logprobs_T: Tensor, mask_T: Tensor, *, cap: float
) -> Tensor:
    """min(p / p_sampler, cap) a token; 1 where the mask is false.

    Args:
        logprobs_T: Of the trainer's policy.
        sampler_logprobs_T: As recorded when the token was sampled.
        mask_T: True on loss tokens.
        cap: Upper bound of the weight.
    """
    return log_ratio(logprobs_T, sampler_logprobs_T, mask_T).exp().clamp(max=cap)


@torch.no_grad()
def geometric_mask(
    logprobs_T: Tensor,
    sampler_logprobs_T: Tensor,
    mask_T: Tensor,
    sequences_T: Tensor,
    *,
    num_sequences: int,
    low: float,
    high: float,
) -> Tensor:
    """The mask without the sequences whose geometric-mean ratio lies outside [low, high].

    The denominator of the loss stays as it was, so that a rejected sequence makes a step smaller,
    never louder.

    Args:
        logprobs_T: Of the trainer's policy.
        sampler_logprobs_T: As recorded when the tokens were sampled.
        mask_T: True on loss tokens; the only ones that count.
        sequences_T: Sequence number of each token.
        num_sequences: How many sequences there are.
        low: Least allowed exp(mean log-ratio).
        high: Greatest allowed.

    Returns:
        Bool of shape [T].
    """
    log_ratio_T = log_ratio(logprobs_T, sampler_logprobs_T, mask_T)
    ratio_S = segment_mean(log_ratio_T, mask_T, sequences_T, num_sequences).exp()
    is_kept_S = (ratio_S >= low) & (ratio_S <= high)
    return mask_T & is_kept_S[sequences_T]
