"""Sampling that depends on a request's own seed, never on how requests were batched."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# B: rows, V: vocabulary

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def uniforms(seeds: NDArray[np.uint64], step: int) -> NDArray[np.float64]:
    """One uniform in [0, 1) for each seed and step: SplitMix64, whose state is seed + step."""
    with np.errstate(over="ignore"):
        z = seeds + _GOLDEN * np.uint64(step + 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def sample(
    logits_BV: Tensor, uniforms_B: NDArray[np.float64], temperatures: Tensor
) -> tuple[Tensor, Tensor]:
    """Draws one id a row by inverting the cumulative distribution; temperature 0 is greedy.

    Returns:
        ids [B] and their log-probabilities [B] under the distribution sampled from (under
        temperature 1 for greedy rows).

    Raises:
        ValueError: If a row of logits has no distribution, as after weights became NaN.
    """
    is_greedy = temperatures == 0
    scale = torch.where(is_greedy, torch.ones_like(temperatures), temperatures)
    logprobs_BV = torch.log_softmax(logits_BV.float() / scale[:, None], dim=-1)
    cumulative_BV = logprobs_BV.double().exp().cumsum(-1)
    total_B = cumulative_BV[:, -1]
    if not torch.isfinite(total_B).all():
        raise ValueError("the policy's logits are NaN or infinite: its weights are damaged")
    # rounding can leave the last sum beside 1; a draw must stay below it
    draws = torch.from_numpy(uniforms_B).to(logits_BV.device) * total_B
    draws = torch.minimum(draws, torch.nextafter(total_B, torch.zeros_like(total_B)))
    drawn = torch.searchsorted(cumulative_BV, draws[:, None], right=True).squeeze(-1)
    ids = torch.where(is_greedy, logprobs_BV.argmax(-1), drawn)
    return ids, logprobs_BV.gather(-1, ids[:, None]).squeeze(-1)
