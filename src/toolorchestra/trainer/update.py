"""One update's gradient: micro-batches and ranks summed, divided once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import torch
from torch import Tensor

from toolorchestra.algorithm.aggregate import global_denominator
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.metrics import LossStats
from toolorchestra.algorithm.objective import Tokens, policy_objective
from toolorchestra.trainer.batch import MicroBatch, TrainingRow, make_micro_batch
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.flops import Costs
from toolorchestra.trainer.logprobs import TokenScores
from toolorchestra.trainer.plan import plan_micro_batches
from toolorchestra.trainer.ranks import Ranks

# N: loss tokens of a micro-batch

Score = Callable[[MicroBatch], TokenScores]
Backward = Callable[[Tensor, bool], None]
"""Takes a micro-batch's share of the loss, and whether it is the step's last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gradients:
    """What is known of an update before it is made."""

    metrics: dict[str, float]
    """Over the loss tokens of all ranks, the summed loss among them."""
    num_tokens: int
    """Tokens that the ranks computed."""
    not_finite: tuple[str, ...]
    """Rollouts of any rank whose log-probability or gradient is infinite or NaN."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Share:
    """One rank's part of it."""

    loss: float
    stats: LossStats
    num_tokens: int
    not_finite: tuple[str, ...]


def accumulate_gradients(
    score: Score,
    rows: Sequence[TrainingRow],
    *,
    costs: Costs,
    algorithm: AlgorithmConfig,
    trainer: TrainerConfig,
    max_tokens: int,
    backward: Backward,
    ranks: Ranks,
    reference: Score | None = None,
) -> Gradients:
    """Adds the gradient of the whole batch to the model's, whatever its split.

    Args:
        score: Scores a micro-batch under the policy, with gradient.
        rows: Of all ranks and alike on each, at least one.
        costs: What tokens cost, for an even plan.
        algorithm: The loss.
        trainer: How much is computed at once.
        max_tokens: Tokens that one rollout could have sampled, for `dr_grpo`.
        backward: Called on each micro-batch.
        ranks: Who shares the work. Gradients must be averaged over them: so losses are that many
            times as big.
        reference: Scores it under the policy that a KL term holds this one to.
    """
    denominator = global_denominator(
        algorithm.aggregation,
        num_tokens=sum(item.num_loss_tokens for item in rows),
        num_sequences=len(rows),
        max_tokens=max_tokens,
    )
    shares = []
    for turn in _turns(rows, trainer, costs, ranks):
        batch = turn.batch
        scores = score(batch)
        if algorithm.entropy_coef == 0:
            # a graph that is never gone back through would keep every chunk's probabilities
            scores = scores._replace(entropy_N=scores.entropy_N.detach())
        tokens = _tokens(batch, scores, algorithm, reference, is_empty=turn.is_empty)
        output = policy_objective(tokens, algorithm, denominator=denominator)
        watch = _Watch(batch, scores)
        backward(output.loss * ranks.size, turn.is_last)
        shares.append(
            _Share(
                loss=float(output.loss.detach()),
                stats=output.stats,
                num_tokens=batch.num_tokens,
                not_finite=watch.names(),
            )
        )
    return _joined([share for of_rank in ranks.from_all(shares) for share in of_rank])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Turn:
    """A micro-batch of this rank, which the others compute one beside."""

    batch: MicroBatch
    is_empty: bool
    """Whether it only keeps step with the others, and carries no loss."""
    is_last: bool


def _turns(
    rows: Sequence[TrainingRow], trainer: TrainerConfig, costs: Costs, ranks: Ranks
) -> Iterator[_Turn]:
    """This rank's micro-batches, as planned with all others'."""
    plans = plan_micro_batches(
        rows,
        num_ranks=ranks.size,
        max_tokens=trainer.micro_batch_tokens,
        costs=costs,
        share_prefixes=trainer.share_prefixes,
    )
    for number, beside in enumerate(zip(*plans, strict=True)):
        members = beside[ranks.rank]
        most = max(sum(rows[r].num_loss_tokens for r in others) for others in beside)
        batch = make_micro_batch(
            [rows[r] for r in members or _shortest(rows)],
            share_prefixes=trainer.share_prefixes,
            most_loss_tokens=most,
        )
        yield _Turn(batch=batch, is_empty=not members, is_last=number + 1 == len(plans[0]))


def _joined(shares: Sequence[_Share]) -> Gradients:
    stats = reduce(add, (share.stats for share in shares))
    return Gradients(
        metrics={"loss": sum(share.loss for share in shares), **stats.means()},
        num_tokens=sum(share.num_tokens for share in shares),
        not_finite=tuple(dict.fromkeys(name for share in shares for name in share.not_finite)),
    )


def _shortest(rows: Sequence[TrainingRow]) -> tuple[int]:
    return (min(range(len(rows)), key=lambda r: len(rows[r].row.ids)),)


class _Watch:
    """Looks for what is not finite, going forward and coming back, and whose it is."""

    def __init__(self, batch: MicroBatch, scores: TokenScores) -> None:
        self._batch = batch
        logprobs_N = scores.logprobs_N.detach()
        is_fine_N = torch.isfinite(batch.sampler_logprobs_N.to(logprobs_N.device))
        self._is_fine_N = torch.isfinite(logprobs_N) & is_fine_N
        self._is_fine_L: Tensor | None = None
        for tensor, look in (
            (scores.logprobs_N, self._look_behind_model),
            (scores.embedded_LD, self._look_before_model),
        ):
            if tensor.requires_grad:
                tensor.register_hook(look)  # type: ignore[no-untyped-call]

    def _look_behind_model(self, gradient_N: Tensor) -> None:
        self._is_fine_N = self._is_fine_N & torch.isfinite(gradient_N)

    def _look_before_model(self, gradient_LD: Tensor) -> None:
        self._is_fine_L = torch.isfinite(gradient_LD).all(-1)

    def names(self) -> tuple[str, ...]:
        """Rollouts with a loss token that is not fine; after the backward pass."""
        rows_N = self._batch.rows_N
        bad = set(rows_N[~self._is_fine_N.cpu()].tolist())
        # Inside the model a fault spreads to rows that share tokens: only where it began there, and
        # nothing else tells whose it is, it counts against all whose last loss token it reached.
        if not bad and self._is_fine_L is not None and not bool(self._is_fine_L.all()):
            is_last_N = torch.cat([rows_N[1:] != rows_N[:-1], torch.tensor([True])])
            is_bad_N = ~self._is_fine_L[self._batch.predictors_N].cpu()
            bad = set(rows_N[is_last_N & is_bad_N].tolist()) or set(rows_N.tolist())
        return tuple(self._batch.names[r] for r in sorted(bad))


def _tokens(
    batch: MicroBatch,
    scores: TokenScores,
    algorithm: AlgorithmConfig,
    reference: Score | None,
    *,
    is_empty: bool,
) -> Tokens:
    logprobs_N = scores.logprobs_N
    device = logprobs_N.device
    ref_logprobs_N = None
    if reference is not None:
        with torch.no_grad():
            ref_logprobs_N = reference(batch).logprobs_N
    return Tokens(
        logprobs_T=logprobs_N,
        sampler_logprobs_T=batch.sampler_logprobs_N.to(device),
        advantages_T=batch.advantages_N.to(device),
        mask_T=torch.full_like(logprobs_N, not is_empty, dtype=torch.bool),
        sequences_T=batch.rows_N.to(device),
        num_sequences=len(batch.names),
        # one step a batch: the trainer's weights when the step begins are the current ones
        old_logprobs_T=logprobs_N.detach() if algorithm.old_policy == "trainer" else None,
        ref_logprobs_T=ref_logprobs_N,
        entropy_T=scores.entropy_N,
    )
