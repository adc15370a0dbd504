"""One update's gradient: micro-batches summed, divided once, nothing but torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from toolorchestra.algorithm.aggregate import global_denominator
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.metrics import LossStats
from toolorchestra.algorithm.objective import Tokens, policy_objective
from toolorchestra.trainer.batch import MicroBatch, TrainingRow, make_micro_batch, split_rows
from toolorchestra.trainer.logprobs import TokenScores, score_tokens

# R: rows, T: tokens of a row, N: loss tokens of a micro-batch


def accumulate_gradients(
    model: PreTrainedModel,
    rows: Sequence[TrainingRow],
    *,
    algorithm: AlgorithmConfig,
    max_tokens: int,
    micro_batch_tokens: int,
    backward: Callable[[Tensor], None],
    reference: PreTrainedModel | None = None,
) -> tuple[dict[str, float], int]:
    """Adds the gradient of the whole batch to the model's, whatever its split.

    Args:
        model: In training mode; its gradients are not cleared here.
        rows: At least one.
        algorithm: The loss.
        max_tokens: Tokens that one rollout could have sampled, for `dr_grpo`.
        micro_batch_tokens: Padded tokens of one pass.
        backward: Called on each micro-batch's share of the loss.
        reference: The policy that a KL term holds the model to.

    Returns:
        Statistics over the loss tokens, the summed loss among them, and the tokens computed.
    """
    denominator = _denominator(rows, algorithm.aggregation, max_tokens)
    stats: LossStats | None = None
    loss = 0.0
    num_tokens = 0
    for part in split_rows(rows, max_tokens=micro_batch_tokens):
        batch = make_micro_batch(part)
        tokens = _tokens(batch, score_tokens(model, batch), algorithm, reference)
        output = policy_objective(tokens, algorithm, denominator=denominator)
        backward(output.loss)
        loss += float(output.loss.detach())
        stats = output.stats if stats is None else stats + output.stats
        num_tokens += batch.num_tokens
    assert stats is not None, "an update needs at least one row"
    return {"loss": loss, **stats.means()}, num_tokens


def _denominator(rows: Sequence[TrainingRow], kind: str, max_tokens: int) -> float:
    return global_denominator(
        kind,
        num_tokens=sum(item.num_loss_tokens for item in rows),
        num_sequences=len(rows),
        max_tokens=max_tokens,
    )


def _tokens(
    batch: MicroBatch,
    scores: TokenScores,
    algorithm: AlgorithmConfig,
    reference: PreTrainedModel | None,
) -> Tokens:
    mask_RT = batch.loss_mask_RT[:, 1:]
    rows_RT = torch.arange(len(mask_RT))[:, None].expand_as(mask_RT)
    is_decoupled = algorithm.old_policy == "trainer"
    ref_logprobs = None
    if reference is not None:
        with torch.no_grad():
            ref_logprobs = score_tokens(reference, batch).logprobs_N
    return Tokens(
        logprobs_T=scores.logprobs_N,
        sampler_logprobs_T=batch.sampler_logprobs_RT[:, 1:][mask_RT],
        advantages_T=batch.advantages_R[:, None].expand_as(mask_RT)[mask_RT],
        mask_T=torch.ones_like(scores.logprobs_N, dtype=torch.bool),
        sequences_T=rows_RT[mask_RT],
        num_sequences=len(mask_RT),
        # one step a batch: the trainer's weights when the step begins are the current ones
        old_logprobs_T=scores.logprobs_N.detach() if is_decoupled else None,
        ref_logprobs_T=ref_logprobs,
        entropy_T=scores.entropy_N,
    )
