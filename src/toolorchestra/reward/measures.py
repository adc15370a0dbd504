"""What a rollout did and used: the vector M (paper, section 3.2).

Everything that ran counts: all calls of a turn, the last turn's too, and the policy's own tokens.
Otherwise the policy learns to move its spending to where nobody looks.
"""

from __future__ import annotations

import math

from toolorchestra.types import Episode, Measures, Rollout, ToolResult, Verdict

RUN_KINDS = ("policy", "tool")
"""Ledger entries that the policy is answerable for. Judges and user simulators are ours to pay."""


def measure(rollout: Rollout, episode: Episode, verdict: Verdict) -> Measures:
    """Measures one scorable rollout.

    Args:
        rollout: Not void.
        episode: Names the offered tools, each of which gets a count.
        verdict: Decided, not None.

    Returns:
        Counts of executed calls, outcome 1 or 0, dollars and seconds (both positive amounts).

    Raises:
        ValueError: The ledger holds a cost that is negative or not finite.
    """
    assert rollout.status != "void", f"rollout {rollout.sample} is void and has no measures"
    assert verdict.is_solved is not None, f"rollout {rollout.sample} has no verdict"
    return Measures(
        tool_counts=tool_counts(rollout, [tool.name for tool in episode.tools]),
        outcome=float(verdict.is_solved),
        cost_usd=cost_usd(rollout),
        latency_s=latency_s(rollout),
    )


def is_executed(result: ToolResult) -> bool:
    """Whether the tool ran: false for a call turned down as malformed or impossible.

    A program that fails in the sandbox did run.
    """
    return not result.metadata.get("malformed", False)


def tool_counts(rollout: Rollout, offered: list[str]) -> dict[str, int]:
    """How often each offered tool ran, in any turn; 0 where it never did."""
    counts = dict.fromkeys(offered, 0)
    for turn in rollout.turns:
        for result in turn.results:
            if is_executed(result) and result.name in counts:
                counts[result.name] += 1
    return counts


def cost_usd(rollout: Rollout, kinds: tuple[str, ...] = RUN_KINDS) -> float:
    """Dollars of the ledger entries of some kinds, by default all that the policy caused.

    Raises:
        ValueError: An entry's cost is negative or not finite: unknown is never free.
    """
    costs = []
    for entry in rollout.ledger:
        if not (math.isfinite(entry.cost_usd) and entry.cost_usd >= 0):
            raise ValueError(
                f"the ledger's cost of {entry.name} in turn {entry.turn} is {entry.cost_usd}; "
                "it must be a finite number of dollars from 0 up"
            )
        if entry.kind in kinds:
            costs.append(entry.cost_usd)
    return math.fsum(costs)


def latency_s(rollout: Rollout) -> float:
    """Seconds of service, summed over all calls (paper, section 2.1: the aggregate latency).

    Calls of one turn run at once here, but each still takes somebody's machine that long. A
    policy's own time counts where a provider serves it; otherwise it is 0 in the ledger, as it
    depends on this machine's load, which must not leak into the reward.
    """
    own = (entry.latency_s for entry in rollout.ledger if entry.kind == "policy")
    called = (result.latency_s for turn in rollout.turns for result in turn.results)
    return math.fsum((*own, *called))
