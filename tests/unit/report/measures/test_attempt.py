from dataclasses import replace

import pytest
from tests.unit.report.ledgers import (
    BIG,
    EPISODE,
    JUDGE,
    POLICY,
    SMALL,
    price,
    rollout,
    trial,
    write_run,
)

from toolorchestra.report.measures.attempt import attempt_of, digest_of, read_attempts
from toolorchestra.types import Turn

TURN = Turn(
    prompt_tokens=1,
    completion_ids=(1,),
    logprobs=(0.0,),
    version=0,
    finish_reason="stop",
    text="",
    thinking="",
    calls=(),
    errors=(),
    results=(),
    policy_cost_usd=0.0,
)


def test_costs_are_told_by_turn_without_what_judges_cost():
    ledger = (POLICY, BIG, replace(SMALL, turn=1), replace(JUDGE, turn=1))
    found = attempt_of(trial("p", 0.013, rollout(*ledger, turns=(TURN, TURN), wall_s=2.5)))
    assert found.turn_usd == pytest.approx((0.010, 0.003)) and found.num_turns == 2
    assert found.measures.cost_usd == 0.013 and found.wall_s == 2.5
    assert found.task == "t" and found.is_simulated


def test_a_trial_without_a_score_has_no_measures():
    assert attempt_of(trial("p", None, rollout(status="void", answer=None))).measures is None


def test_confidence_is_read_from_the_answer_and_asked_for_by_the_task():
    said = trial("p", 0.0, rollout(answer="Answer: 4\nConfidence: 80%"))
    assert attempt_of(said).confidence == 0.8 and not attempt_of(said).is_asked_confidence
    task = replace(EPISODE.task, metadata={"answer_form": "Answer: x\nConfidence: x"})
    asked = replace(said, episode=replace(EPISODE, task=task))
    assert attempt_of(asked).is_asked_confidence


def test_episodes_are_the_same_whatever_the_policy_itself_costs():
    other = replace(EPISODE, policy_priced_as=("Other",), policy_price=price(9))
    assert digest_of(other) == digest_of(EPISODE)
    changed = replace(EPISODE, tools=EPISODE.tools[:1], seed=5)
    assert digest_of(changed).task == digest_of(EPISODE).task
    assert digest_of(changed).tools != digest_of(EPISODE).tools
    assert digest_of(changed).seed == 5


def test_a_conversation_is_the_same_task_however_its_user_opens_it():
    goal = replace(EPISODE.task, answer_kind="domain")
    ours, theirs = (
        replace(EPISODE, task=replace(goal, question=said)) for said in ("Good morning!", "Hello.")
    )
    assert digest_of(ours) == digest_of(theirs)
    other = replace(EPISODE, task=replace(EPISODE.task, question="Hello."))
    assert digest_of(other).task != digest_of(EPISODE).task


def test_a_folder_without_an_evaluation_is_named(tmp_path):
    with pytest.raises(ValueError, match="holds no evaluation_trajectories.jsonl; use the folder"):
        read_attempts(tmp_path)
    run = write_run(tmp_path / "run", trials=[trial("p", 0.0, rollout())])
    assert [item.policy for item in read_attempts(run)] == ["p"]
