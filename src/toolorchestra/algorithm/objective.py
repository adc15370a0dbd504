"""The whole training loss of one micro-batch: policy loss, correction, KL, entropy, statistics.

The other files hold the maths and take plain values; this one reads the options and wires them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from toolorchestra.algorithm.aggregate import aggregate
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.kl import kl_penalty
from toolorchestra.algorithm.losses import (
    TokenLosses,
    cispo_losses,
    grpo_losses,
    log_ratio,
    sequence_log_ratio,
)
from toolorchestra.algorithm.metrics import LossStats, collect
from toolorchestra.algorithm.off_policy import geometric_mask, truncated_weights
from toolorchestra.algorithm.segments import masked

# T: tokens of a micro-batch, padded or packed, flattened


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """A micro-batch as the loss sees it. Where the mask is false no value matters, not even NaN."""

    logprobs_T: Tensor
    """Of the trained policy, with gradient."""
    sampler_logprobs_T: Tensor
    """As recorded when each token was sampled."""
    advantages_T: Tensor
    """The advantage of each token's rollout."""
    mask_T: Tensor
    """Bool: true on loss tokens, i.e. sampled ones of rollouts that no filter dropped."""
    sequences_T: Tensor
    """Int64: which sequence of the micro-batch each token belongs to, 0..num_sequences-1."""
    num_sequences: int
    old_logprobs_T: Tensor | None = None
    """Of the trainer's weights when the step began, with old_policy=trainer: `logprobs_T.detach()`
    when a batch is one step. None: the sampler's are the old ones."""
    ref_logprobs_T: Tensor | None = None
    """Of the reference policy; needed by a KL term alone."""
    entropy_T: Tensor | None = None
    """Of the policy's distribution at each token, with gradient for an entropy bonus. None: the
    statistics estimate it by -log p of the sampled tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LossOutput:
    """This micro-batch's share of the loss, and its statistics."""

    loss: Tensor
    """Scalar: call backward on it; the gradients of micro-batches add up."""
    stats: LossStats


def policy_objective(tokens: Tokens, config: AlgorithmConfig, *, denominator: float) -> LossOutput:
    """The loss to minimise.

    The importance weight multiplies the policy loss only where `old_logprobs_T` is given: otherwise
    the ratio to the sampler is in the loss already, and must not count twice.

    Args:
        tokens: The micro-batch.
        config: The options.
        denominator: From `global_denominator`, for the whole batch.

    Returns:
        Loss and statistics; exactly 0 with finite gradients where every token is masked.

    Raises:
        ValueError: The options ask for a term whose tensor is missing.
    """
    tokens = _without_masked_values(tokens)
    old_T = tokens.old_logprobs_T
    trainer_T = (tokens.logprobs_T if old_T is None else old_T).detach()
    policy = _policy_losses(
        tokens, config, tokens.sampler_logprobs_T if old_T is None else trainer_T
    )
    weights_T = truncated_weights(
        trainer_T, tokens.sampler_logprobs_T, tokens.mask_T, cap=config.tis_cap
    )
    kept_T = _kept(tokens, config, trainer_T)
    loss_T = policy.loss_T if old_T is None else policy.loss_T * weights_T
    kl_T = _kl(tokens, config)
    loss = aggregate(
        loss_T + config.kl_coef * kl_T - _entropy_bonus(tokens, config),
        kept_T,
        tokens.sequences_T,
        num_sequences=tokens.num_sequences,
        kind=config.aggregation,
        denominator=denominator,
    )
    stats = _stats(tokens, policy, trainer_T, weights_T=weights_T, kept_T=kept_T, kl_T=kl_T)
    return LossOutput(loss=loss, stats=stats)


def _without_masked_values(tokens: Tokens) -> Tokens:
    mask_T = tokens.mask_T
    assert mask_T.dtype == torch.bool, f"the mask must be bool; got {mask_T.dtype}"

    def clean(values_T: Tensor | None) -> Tensor | None:
        return None if values_T is None else masked(values_T, mask_T)

    return replace(
        tokens,
        logprobs_T=masked(tokens.logprobs_T, mask_T),
        sampler_logprobs_T=masked(tokens.sampler_logprobs_T, mask_T),
        advantages_T=masked(tokens.advantages_T, mask_T),
        old_logprobs_T=clean(tokens.old_logprobs_T),
        ref_logprobs_T=clean(tokens.ref_logprobs_T),
        entropy_T=clean(tokens.entropy_T),
    )


def _kept(tokens: Tokens, config: AlgorithmConfig, trainer_T: Tensor) -> Tensor:
    return geometric_mask(
        trainer_T,
        tokens.sampler_logprobs_T,
        tokens.mask_T,
        tokens.sequences_T,
        num_sequences=tokens.num_sequences,
        low=config.geometric_low,
        high=config.geometric_high,
    )


def _policy_losses(tokens: Tokens, config: AlgorithmConfig, old_logprobs_T: Tensor) -> TokenLosses:
    log_ratio_T = log_ratio(tokens.logprobs_T, old_logprobs_T, tokens.mask_T)
    clip_low, clip_high = config.clip_low, config.clip_high
    if config.loss == "cispo":
        return cispo_losses(
            log_ratio_T,
            tokens.logprobs_T,
            tokens.advantages_T,
            clip_low=clip_low,
            clip_high=clip_high,
        )
    if config.loss == "gspo":
        log_ratio_T = sequence_log_ratio(
            log_ratio_T, tokens.mask_T, tokens.sequences_T, num_sequences=tokens.num_sequences
        )
    return grpo_losses(
        log_ratio_T,
        tokens.advantages_T,
        clip_low=clip_low,
        clip_high=clip_high,
        dual_clip=config.dual_clip,
    )


def _kl(tokens: Tokens, config: AlgorithmConfig) -> Tensor:
    if config.kl == "none":
        return torch.zeros_like(tokens.logprobs_T)
    if tokens.ref_logprobs_T is None:
        raise ValueError(f"algorithm.kl={config.kl} needs the reference policy's log-probabilities")
    return kl_penalty(tokens.logprobs_T, tokens.ref_logprobs_T, tokens.mask_T, kind=config.kl)


def _entropy_bonus(tokens: Tokens, config: AlgorithmConfig) -> Tensor:
    if config.entropy_coef == 0:
        return torch.zeros_like(tokens.logprobs_T)
    if tokens.entropy_T is None:
        raise ValueError(
            f"algorithm.entropy_coef={config.entropy_coef} needs the entropy of tokens"
        )
    return config.entropy_coef * tokens.entropy_T


def _stats(
    tokens: Tokens,
    policy: TokenLosses,
    trainer_T: Tensor,
    *,
    weights_T: Tensor,
    kept_T: Tensor,
    kl_T: Tensor,
) -> LossStats:
    gap_T = trainer_T - tokens.sampler_logprobs_T
    entropy_T = -tokens.logprobs_T if tokens.entropy_T is None else tokens.entropy_T
    means = {
        "logprob_gap": gap_T,
        "logprob_gap_abs": gap_T.abs(),
        "ratio": policy.ratio_T,
        "clip_fraction": policy.is_clipped_T,
        "importance_weight": weights_T,
        "rejected_fraction": tokens.mask_T & ~kept_T,
        "entropy": entropy_T,
        "kl": kl_T,
    }
    maxima = {"logprob_gap_max": gap_T.abs(), "ratio_max": policy.ratio_T}
    return collect(means, maxima, tokens.mask_T)
