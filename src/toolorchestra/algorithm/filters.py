"""Which rollouts get a loss (paper, section 3.2, "Training techniques").

Three filters: homogeneity (the rewards of the group hardly differ), format (a malformed or
impossible call) and invalid output (no answer). A filtered rollout gets no loss, but its reward
still counts in the mean and standard deviation of its group, as in the original code: the siblings'
advantages say how they did among all that was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from toolorchestra.reward.measures import is_executed
from toolorchestra.types import Group, Rollout

STD_ROUNDING = 1e-9
"""A standard deviation this close below the threshold meets it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FilterDecision:
    """What the filters found in one group, decided for the group as a whole."""

    is_homogeneous: bool
    is_malformed: tuple[bool, ...]
    """One a rollout; so is the next."""
    is_invalid: tuple[bool, ...]
    is_kept: tuple[bool, ...]
    """Whether each rollout gets a loss."""
    rewards: tuple[float, ...]
    """What each is trained on: R, but what a failure earns for a malformed one that is kept."""


def filter_group(
    group: Group, *, homogeneity_std: float, drop_malformed: bool, drop_invalid: bool
) -> FilterDecision:
    """Applies the three filters to a scored group.

    Args:
        group: All scored rollouts of an episode.
        homogeneity_std: Groups whose population standard deviation of R is smaller are dropped
            whole; 0 drops none.
        drop_malformed: Whether the format filter drops what it finds. If not, a rollout with a
            fault of format counts as failed, even where it was mended and the task solved: nothing
            else would oppose calls that cost nothing, as they never run.
        drop_invalid: Whether the invalid-output filter drops what it finds.
    """
    offered = frozenset(tool.name for tool in group.episode.tools)
    is_malformed = tuple(has_format_fault(rollout, offered) for rollout in group.rollouts)
    rewards = [score.reward for score in group.scores]
    if not drop_malformed:
        failure = min([0.0, *rewards])
        rewards = [
            failure if malformed else reward
            for malformed, reward in zip(is_malformed, rewards, strict=True)
        ]
    is_homogeneous = is_group_homogeneous(rewards, homogeneity_std)
    is_invalid = tuple(not has_valid_output(rollout) for rollout in group.rollouts)
    is_kept = tuple(
        not (is_homogeneous or (drop_malformed and malformed) or (drop_invalid and invalid))
        for malformed, invalid in zip(is_malformed, is_invalid, strict=True)
    )
    return FilterDecision(
        is_homogeneous=is_homogeneous,
        is_malformed=is_malformed,
        is_invalid=is_invalid,
        is_kept=is_kept,
        rewards=tuple(rewards),
    )


def is_group_homogeneous(rewards: Sequence[float], homogeneity_std: float) -> bool:
    """Whether the rewards' population standard deviation is smaller than the threshold."""
    if homogeneity_std == 0:
        return False
    rewards_G = torch.tensor(rewards, dtype=torch.float64)
    std = float(rewards_G.std(correction=0)) if len(rewards) > 0 else 0.0
    return std < homogeneity_std - STD_ROUNDING


def has_format_fault(rollout: Rollout, offered: frozenset[str]) -> bool:
    """Whether any turn holds output that is no valid call, or a call of no offered tool.

    A call that ran and failed, such as a program with an error, is no fault of format.
    """
    return any(
        bool(turn.errors) or any(not is_executed(r) or r.name not in offered for r in turn.results)
        for turn in rollout.turns
    )


def has_valid_output(rollout: Rollout) -> bool:
    """Whether the rollout ended with an answer that is not blank."""
    return rollout.status == "answered" and bool(rollout.answer and rollout.answer.strip())


def count_drops(decisions: Sequence[FilterDecision]) -> dict[str, int]:
    """Counts of rollouts by finding, for logging.

    A rollout may be found by several filters, so the parts do not add up to `num_dropped`.
    """
    kept = sum(sum(d.is_kept) for d in decisions)
    rollouts = sum(len(d.is_kept) for d in decisions)
    return {
        "num_groups": len(decisions),
        "num_homogeneous_groups": sum(d.is_homogeneous for d in decisions),
        "num_rollouts": rollouts,
        "num_homogeneous": sum(len(d.is_kept) for d in decisions if d.is_homogeneous),
        "num_malformed": sum(sum(d.is_malformed) for d in decisions),
        "num_invalid": sum(sum(d.is_invalid) for d in decisions),
        "num_dropped": rollouts - kept,
    }
