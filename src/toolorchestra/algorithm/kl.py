"""Estimators of KL(policy || reference) from one sample a token.

With d = log p_ref - log p: k1 = -d is unbiased but noisy, k2 = d^2 / 2 is biased and small,
k3 = exp(d) - 1 - d is unbiased and never negative. As a *loss* only k2 has the gradient of the
divergence in expectation: k1's averages to zero on fresh samples, and k3's to that of the reverse
divergence.
"""

from __future__ import annotations

import torch
from torch import Tensor

from toolorchestra.algorithm.losses import log_ratio

# T: tokens of a micro-batch, padded or packed, flattened


def kl_penalty(logprobs_T: Tensor, ref_logprobs_T: Tensor, mask_T: Tensor, *, kind: str) -> Tensor:
    """The chosen estimate at each token; 0 where the mask is false.

    Args:
        logprobs_T: Of the trained policy.
        ref_logprobs_T: Of the reference policy, without gradient.
        mask_T: True on loss tokens.
        kind: "k1", "k2" or "k3".

    Raises:
        ValueError: An unknown kind.
    """
    negative_d_T = log_ratio(logprobs_T, ref_logprobs_T, mask_T)
    if kind == "k1":
        return negative_d_T
    if kind == "k2":
        return negative_d_T.square() / 2
    if kind == "k3":
        return torch.expm1(-negative_d_T) + negative_d_T
    raise ValueError(f"KL estimator {kind!r} is not allowed; use k1, k2 or k3")
