from dataclasses import replace

import pytest
from tests.unit.benchmark.worlds import make_episode, make_world, result, turn

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, oracle_bound, trial_of
from toolorchestra.domain.goal import Goal, as_task
from toolorchestra.domain.load import load_shipped
from toolorchestra.reward.outcome import judge_answer
from toolorchestra.rollout.group import Played
from toolorchestra.types import CallError, LedgerEntry, Preference, Rollout, Task, Usage

FRUGAL = Preference(
    kind="frugal", instruction="", outcome=1.0, cost=1.0, latency=0.0, tools={"weak": 0.5}
)
ERROR = CallError(message="no JSON", text="{")


def bill(kind, cost_usd):
    return LedgerEntry(
        kind=kind,
        name="x",
        priced_as=("x",),
        usage=Usage(),
        cost_usd=cost_usd,
        latency_s=0.0,
        turn=0,
    )


def played(episode, *turns, ledger=(), status="answered", answer="4"):
    rollout = Rollout(
        episode_id=episode.id,
        sample=0,
        status=status,
        turns=turns,
        rows=(),
        answer=answer,
        ledger=ledger,
    )
    verdict = None if status == "void" else judge_answer(episode.task, answer)
    return Played(episode=episode, rollouts=(rollout,), verdicts=(verdict,), num_void=0)


def evaluate(*items):
    return [trial_of("p", "seen", item).result for item in items]


def test_the_result_of_a_task_of_a_domain_tells_its_difficulty_and_that_of_a_question_none():
    domain = load_shipped("library")
    goal = next(task for task in domain.tasks.values() if task.difficulty == 3)
    episode = make_episode(task=as_task(Goal(domain=domain, task=goal)))
    rollout = Rollout(
        episode_id=episode.id, sample=0, status="void", turns=(), rows=(), answer=None, ledger=()
    )
    item = Played(episode=episode, rollouts=(rollout,), verdicts=(None,), num_void=1)
    assert [found.difficulty for found in evaluate(item, played(make_episode()))] == [3, None]


def test_a_solved_rollout_by_hand():
    # All tools once: $0.11. Spent 0.01 + 0.001 (the policy's own): saved 1 - 0.1 = 0.9.
    # U = 1 + 0.9 + 0.5 (the wanted tool ran) = 2.4.
    episode = make_episode("math", preference=FRUGAL)
    item = played(
        episode,
        turn(result("weak", "answer: 4", latency_s=3.0)),
        turn(),
        ledger=(bill("policy", 0.001), bill("tool", 0.01)),
    )
    [found] = evaluate(item)
    assert found.utility == pytest.approx(2.4)
    assert (found.is_solved, found.cost_usd, found.latency_s) == (1.0, pytest.approx(0.011), 3.0)
    assert found.tool_counts == {"strong": 0, "weak": 1, "free": 0}
    assert (found.policy, found.world, found.episode) == ("p", "seen", "heldout-000000")
    assert (found.skill, found.preference, found.status) == ("math", "frugal", "answered")
    assert (found.num_calls, found.num_malformed) == (1, 0)


def test_a_wrong_answer_is_worth_nothing_and_still_costs():
    item = played(make_episode(), turn(), ledger=(bill("tool", 0.05),), answer="5")
    [found] = evaluate(item)
    assert (found.utility, found.is_solved, found.cost_usd) == (0.0, 0.0, 0.05)


def test_a_void_rollout_has_no_numbers():
    item = played(make_episode(), turn(result("weak", "x", "provider_error")), status="void")
    [found] = evaluate(item)
    assert found.status == "void"
    assert (found.utility, found.is_solved, found.cost_usd, found.latency_s) == (None,) * 4
    assert found.tool_counts == {}


def test_an_answer_that_cannot_be_judged_is_unscored_not_wrong():
    # A gold answer without a number cannot be compared as a number.
    task = Task(id="t", skill="math", question="?", answer="none", answer_kind="number")
    [found] = evaluate(played(make_episode(task=task), turn()))
    assert (found.utility, found.is_solved, found.status) == (None, None, "answered")


def test_malformed_calls_are_counted_once_each():
    # Two results, one of them refused; a turn with two errors; a message cut inside a call, which
    # the parser also reports; one cut outside of any. Bad: 1 + 2 + 1 + 1. All: 2 + 2 + 1 + 1.
    refused = result("x", "error", "policy_error", metadata={"malformed": True})
    item = played(
        make_episode(),
        turn(result("weak", "answer: 4"), refused),
        turn(errors=(ERROR, ERROR)),
        turn(errors=(ERROR,), finish_reason="length"),
        turn(finish_reason="length"),
        status="truncated",
        answer=None,
    )
    [found] = evaluate(item)
    assert (found.num_malformed, found.num_calls) == (5, 6)
    assert (found.utility, found.is_solved) == (0.0, 0.0)


def test_the_bound_is_the_oracles_expectation():
    # THOROUGH over the horizon of 3 in the small world, against the oracle itself.
    world, episode = make_world(), make_episode()
    [found] = oracle_bound(world, "transfer", [episode])
    plan = world.oracle(episode).plan(world.oracle(episode).start())
    assert (found.policy, found.world, found.status) == (ORACLE_BOUND, "transfer", "expected")
    assert (found.utility, found.is_solved) == (plan.utility, plan.is_solved)
    assert (found.cost_usd, found.latency_s) == (plan.cost_usd, plan.latency_s)
    assert 0 < found.is_solved <= 1
    assert found.tool_counts == {}


def test_judge_and_user_are_paid_apart_from_the_policy_scored_or_not():
    ledger = (bill("policy", 0.01), bill("judge", 0.2), bill("user", 0.3), bill("judge", 0.05))
    fine, void = evaluate(
        played(make_episode(), turn(), ledger=ledger),
        played(make_episode(), turn(), ledger=ledger, status="void"),
    )
    assert (fine.cost_usd, fine.judge_usd, fine.user_usd) == (0.01, pytest.approx(0.25), 0.3)
    assert (void.cost_usd, void.judge_usd, void.user_usd) == (None, pytest.approx(0.25), 0.3)


def test_a_trial_holds_its_rollout_and_how_many_attempts_were_void():
    item = replace(played(make_episode(), turn()), num_void=2)
    found = trial_of("p", "seen", item)
    assert (found.rollout, found.episode) == (item.rollouts[0], item.episode)
    assert (found.verdict, found.num_void) == (item.verdicts[0], 2)
    assert (found.result.task, found.result.trial) == ("t", 0)
