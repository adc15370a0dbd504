"""Rollouts of domains' tasks, from drawing the episode to the verdict."""

import json
from dataclasses import replace

import pytest
from tests.unit.dataset.test_episode import sampler
from tests.unit.rollout.stage import FakeTool, engine_of, speaker

from toolorchestra.dataset.config import DatasetConfig, DomainsConfig
from toolorchestra.dataset.source import make_source
from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.goal import goal_of
from toolorchestra.domain.load import load_shipped
from toolorchestra.reward.measures import measure
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.domain import Environments, domain_tools


@pytest.fixture(scope="module")
def stage():
    tools = {name: FakeTool(name) for name in ("big", "small", "parcels")}
    stage = Stage(
        tools=tools | domain_tools(["library"], Environments()),
        speaker=speaker(),
        config=RolloutConfig(max_turns=30, max_concurrent=4, max_redispatch=0),
        max_new_tokens=2000,
        max_context=100_000,
    )
    yield stage
    stage.close()


def episodes(difficulty, count=1, *, keep=lambda goal: True):
    domain = DomainsConfig(weights={"library": 1.0}, difficulties=[difficulty])
    config = DatasetConfig(name="t", kind="domain", domain=domain)
    draw = sampler(tasks=make_source(config, seed=1))
    found = (draw(index) for index in range(200))
    kept = [episode for episode in found if keep(goal_of(episode.task).task)]
    return kept[:count]


def called(name, arguments):
    call = json.dumps({"name": name, "arguments": dict(arguments)})
    return f"<tool_call>\n{call}\n</tool_call>"


def golden(episode):
    """The golden actions one a message, then an answer that says what has to be said."""
    task = goal_of(episode.task).task
    calls = [called(action.name, action.arguments) for action in task.actions]
    return [*calls, f"That is done: {'; '.join(task.communicate)}."]


def play(stage, episode, *texts, group_size=1):
    return stage.play(engine_of(*texts), [episode], group_size=group_size, is_greedy=True)[0]


@pytest.mark.parametrize("difficulty", [1, 2, 3, 4, 5])
def test_golden_actions_and_what_has_to_be_said_solve_a_task_and_nothing_less_does(
    stage, difficulty
):
    (episode,) = episodes(difficulty, keep=lambda task: task.communicate and task.actions)
    texts = golden(episode)
    played = play(stage, episode, *texts)
    (rollout,), (verdict,) = played.rollouts, played.verdicts
    assert (rollout.status, verdict.is_solved, verdict.reason) == ("answered", True, "")
    assert verdict.decided_by == "domain"
    measures = measure(rollout, episode, verdict)
    assert measures.outcome == 1.0
    assert measures.latency_s == 0.5 * (len(texts) - 1)
    assert all(entry.cost_usd == 0 for entry in rollout.ledger if entry.kind == "tool")
    for lazy in (["I could do that."], [*texts[:-1], "That is done."], texts[-1:]):
        assert play(stage, episode, *lazy).verdicts[0].is_solved is False, lazy


def test_an_extra_write_is_wrong_and_the_verdict_says_which_record(stage):
    (episode,) = episodes(1, keep=lambda task: task.actions[0].name == "get_member")
    member = goal_of(episode.task).task.actions[0].arguments["member_id"]
    extra = called("set_interests", {"member_id": member, "interests": ["chess"]})
    played = play(stage, episode, extra, *golden(episode))
    assert [r.status for t in played.rollouts[0].turns for r in t.results] == ["ok", "ok"]
    assert played.verdicts[0].is_solved is False
    assert f"database: changed members {member}.interests" in played.verdicts[0].reason


def test_an_impossible_call_is_told_and_changes_nothing_and_the_rollout_goes_on(stage):
    (episode,) = episodes(1, keep=lambda task: task.communicate)
    played = play(stage, episode, called("get_member", {"member_id": "M999"}), *golden(episode))
    result = played.rollouts[0].turns[0].results[0]
    assert (result.status, result.content) == (
        "policy_error",
        "error: there is no 'M999' in members",
    )
    assert not result.metadata.get("malformed")
    assert played.verdicts[0].is_solved is True


def test_a_call_that_does_not_fit_the_schema_is_never_run_nor_judged(stage):
    (episode,) = episodes(1, keep=lambda task: task.communicate)
    played = play(stage, episode, called("get_member", {"member": 3}), *golden(episode))
    assert played.rollouts[0].turns[0].results[0].metadata == {"malformed": True}
    assert played.verdicts[0].is_solved is True


def test_a_rollout_that_never_answers_is_not_solved_though_all_was_done(stage):
    (episode,) = episodes(1, keep=lambda task: not task.communicate)
    texts = golden(episode)[:-1]
    played = play(stage, episode, *texts, called("get_rules", {}))
    assert played.rollouts[0].status == "max_turns"
    assert played.verdicts[0].reason == "no answer was given"
    assert play(stage, episode, *texts, "Done.").verdicts[0].is_solved is True


def test_rollouts_of_a_group_have_databases_of_their_own(stage):
    def writes_once(task):
        return task.actions[-1].name == "cancel_hold"

    (episode,) = episodes(1, keep=writes_once)  # a second cancelling of one hold fails
    played = play(stage, episode, *golden(episode), group_size=3)
    assert [verdict.is_solved for verdict in played.verdicts] == [True] * 3


def test_a_bug_of_the_domain_voids_the_rollout(stage, monkeypatch):
    (episode,) = episodes(1)

    def broken(*_):
        raise DomainBug("get_rules broke: RuntimeError: broken")

    monkeypatch.setattr("toolorchestra.domain.environment.call_function", broken)
    played = play(stage, episode, called("get_rules", {}), "Done.")
    assert played.rollouts[0].status == "void"
    assert "get_rules broke" in played.rollouts[0].fault
    assert played.verdicts == (None,)


def test_the_policy_reads_the_rules_and_all_schemas_of_the_domain(stage):
    (episode,) = episodes(1)
    rows = play(stage, episode, "Done.").rollouts[0].rows
    shown = speaker().text(rows[0].ids)
    assert "# Rules of the library desk" in shown
    assert episode.task.question in shown
    assert "Part of the title, in any case." in shown, "optional arguments too"
    functions = load_shipped("library").functions
    assert [tool.name for tool in episode.tools][-len(functions) :] == list(functions)
    assert episode.is_solvable
    assert all(name in shown for name in functions)


def test_a_task_that_is_not_there_is_refused_by_name():
    (episode,) = episodes(1)
    lost = replace(episode.task, metadata={"domain": "library", "domain_task": "library-999"})
    with pytest.raises(ValueError, match="the domain library has no task 'library-999'"):
        goal_of(lost)
