import pytest
from tests.invariant.records import (
    FAILED,
    SOLVED,
    entry,
    episode,
    preference,
    result,
    rollout,
    tool,
    turn,
)

from toolorchestra.reward.group import score_group
from toolorchestra.trainer.metrics import group_metrics, malformed_share
from toolorchestra.types import CallError

ERROR = CallError(message="no JSON", text="{")
REFUSED = result("a", status="policy_error", metadata={"malformed": True})
CRASHED = result("a", status="policy_error")


def scored(given, *pairs):
    rollouts, verdicts = zip(*pairs, strict=True)
    return score_group(given, rollouts, verdicts, rule="paper", preference=given.preference)


def test_the_malformed_share_by_hand():
    # Tried: a good call, a refused one, a program that failed (it ran), two pieces that are no
    # call, a message cut inside a call, and one cut elsewhere. Bad: 1 + 2 + 1 + 1 of 7.
    first = rollout(turn(result("a"), REFUSED), turn(CRASHED), turn(errors=(ERROR, ERROR)))
    second = rollout(
        turn(errors=(ERROR,), finish_reason="length"), turn(finish_reason="length"), sample=1
    )
    assert malformed_share([first, second]) == pytest.approx(5 / 7)


def test_without_a_call_nothing_is_malformed():
    assert malformed_share([]) == 0.0
    assert malformed_share([rollout(turn(text="4"))]) == 0.0


def test_means_over_the_rollouts_by_hand():
    # All tools once: $0.02, 2 s. Rollout 1 solved: $0.01, 3 s, two calls of a. Rollout 2 failed:
    # nothing spent. P = outcome 1, cost 0.5: U = 1 + 0.5 (1 - 0.5) = 1.25 and 0.
    given = episode(wanted=preference(outcome=1.0, cost=0.5))
    one = rollout(
        turn(result("a", 1.0), result("a", 2.0), completion_ids=(1, 2, 3), logprobs=(0.0,) * 3),
        turn(text="4"),
        ledger=(entry("tool", 0.008), entry("policy", 0.002)),
    )
    other = rollout(turn(text="5"), sample=1)
    metrics = group_metrics([scored(given, (one, SOLVED), (other, FAILED))])
    assert metrics["accuracy"] == 0.5
    assert metrics["utility"] == pytest.approx(0.625)
    assert metrics["cost_cents"] == pytest.approx(0.5)
    assert metrics["latency_s"] == pytest.approx(1.5)
    assert metrics["turns"] == 1.5
    assert metrics["tokens/sampled"] == 5.0
    assert metrics["calls/malformed_share"] == 0.0
    assert (metrics["calls/a"], metrics["calls/b"]) == (1.0, 0.0)
    parts = sum(metrics[f"reward/{n}"] for n in ("outcome", "cost", "latency", "tools"))
    assert metrics["reward/mean"] == pytest.approx(parts)


def test_calls_are_counted_among_those_who_were_offered_the_tool():
    # Tool c is offered in the second group alone, where one of two rollouts calls it.
    without = scored(episode(), (rollout(turn(result("a"))), SOLVED))
    given = episode(tool("a"), tool("c"))
    caller, other = rollout(turn(result("c"))), rollout(turn(), sample=1)
    metrics = group_metrics([without, scored(given, (caller, SOLVED), (other, SOLVED))])
    assert metrics["calls/c"] == 0.5
    assert metrics["calls/a"] == pytest.approx(1 / 3)
    assert metrics["calls/b"] == 0.0


def test_a_step_without_any_scored_rollout_has_finite_metrics():
    empty = score_group(episode(), [], [], rule="paper", preference=preference(outcome=1.0))
    metrics = group_metrics([empty])
    assert metrics["reward/mean"] == 0.0
    assert metrics["calls/malformed_share"] == 0.0
    assert "calls/a" not in metrics
