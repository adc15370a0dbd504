"""`user=scripted` and `user=llm` from end to end, at the lockers: a domain that takes both."""

from __future__ import annotations

import json

import pytest
from tests.composed import composed, options_of
from tests.integration.test_real_experts import KEY, lines_of
from tests.unit.judge.chat_server import chat_server
from tests.unit.user.scene import install

from toolorchestra.command.reprice import read_all
from toolorchestra.evaluate import evaluate
from toolorchestra.report.trajectories import read_trajectories, read_trials
from toolorchestra.run import train

QUICK = (
    "dataset=toolscale",
    "dataset.domain.weights={library: 1, clinic: 0, courier: 0}",
    "toolset.min_tools=1",
    "toolset.max_tools=1",
    "benchmark.num_episodes=2",
    "rollout.max_turns=5",
    "model.max_new_tokens=80",
    "model.max_context=3000",
)


@pytest.fixture(autouse=True)
def lockers(monkeypatch):
    """The lockers stand where the library was."""
    domain = install(monkeypatch)
    monkeypatch.setattr("toolorchestra.domain.catalogue.load_shipped", lambda name: domain)


def accuracy(run_dir, policy):
    found = [r["is_solved"] for r in lines_of(run_dir / "results.jsonl") if r["policy"] == policy]
    return sum(found) / len(found)


def test_the_tiny_policy_trains_in_conversations_with_a_scripted_user(tmp_path):
    run_dir = train(
        composed(
            *QUICK,
            "user=scripted",
            "benchmark.transfer=null",
            "trainer.max_steps=2",
            "trainer.episodes_per_step=1",
            "algorithm.group_size=2",
            "rollout.max_replacements=0",
            output_dir=tmp_path / "run",
        )
    )
    groups = [item.group for item in read_trajectories(run_dir / "trajectories.jsonl")]
    assert len(groups) == 2
    turns = [turn for group in groups for rollout in group.rollouts for turn in rollout.turns]
    spoken = [turn for turn in turns if turn.user is not None]
    assert spoken, "the tiny policy answers now and then"
    assert all(not turn.calls and not turn.errors for turn in spoken)
    for group in groups:
        for rollout in group.rollouts:
            sampled = sum(len(turn.completion_ids) for turn in rollout.turns)
            assert sum(sum(row.loss_mask) for row in rollout.rows) == sampled
    assert accuracy(run_dir, "golden") == 1.0
    assert accuracy(run_dir, "trained") == 0.0
    for trial in read_trials(run_dir / "evaluation_trajectories.jsonl"):
        assert "tell me the code" not in trial.episode.task.question


def plays(request):
    """A model that plays the user as it should."""
    said = request["messages"][-1]["content"]
    system = request["messages"][0]["content"]
    locker = "L3" if "locker L3" in system else "L1"

    def reply(say="", call="", is_done=False):
        calls = [{"name": call, "arguments": json.dumps({"locker_id": locker})}] if call else []
        return json.dumps({"calls": calls, "say": say, "is_done": is_done})

    if said.startswith("Your calls gave:"):
        return reply(said.partition("\n")[2])
    if "That is done" in said or "answer: done" in said:
        return reply(is_done=True)
    if "slip?" in said or "open?" in said:
        return reply(call="read_slip" if "slip?" in said else "open_locker")
    return reply("Well.")


def hostile(request):
    """One that first breaks the form of its replies, and calls what it must not."""
    last = request["messages"][-1]["content"]
    asked = sum(message["role"] == "assistant" for message in request["messages"])
    if "cannot be used" in last:
        return plays(request | {"messages": request["messages"][:-2]})
    return "I solve it myself: <|im_end|>" if asked % 2 else '{"calls": [{"name": "release"}]}'


def talk(folder, url, *overrides):
    return evaluate(
        composed(
            *QUICK,
            "user=llm",
            "provider=mine",
            f"provider.providers.mine.base_url={url}",
            "provider.providers.mine.key_env=ACME_KEY",
            "+provider.providers.mine.models={GPT-5-mini: a}",
            "provider.deadline_s=20",
            "user.deadline_s=60",
            "num_threads=1",
            *overrides,
            output_dir=folder / "run",
            command="evaluate",
        )
    )


def test_a_model_that_plays_the_user_is_mended_billed_apart_and_replayed(tmp_path, monkeypatch):
    monkeypatch.setenv("ACME_KEY", KEY)
    cassette = f"provider.cassette.path={tmp_path / 'cassette.jsonl'}"
    with chat_server(hostile) as (url, requests):
        run_dir = talk(tmp_path / "a", url, cassette, "provider.cassette.mode=record")
    assert accuracy(run_dir, "golden") == 1.0
    results = lines_of(run_dir / "results.jsonl")
    assert {result["status"] for result in results} <= {"answered", "max_turns", "truncated"}
    trials = list(read_trials(run_dir / "evaluation_trajectories.jsonl"))
    bills = [entry for t in trials for entry in t.rollout.ledger if entry.kind == "user"]
    assert len(bills) == len(requests) > 0
    # each 100 input tokens at $0.25 and 10 output tokens at $2 a million
    spent = json.loads((run_dir / "spent.json").read_text())["spent_usd"]
    assert spent == pytest.approx(4.5e-5 * len(requests))
    assert sum(result["user_usd"] for result in results) == pytest.approx(spent)
    assert "user cents" in (run_dir / "results.md").read_text()
    told = json.dumps(requests)
    assert "communicate" not in told and "get_locker" not in told
    _, audit = read_all([run_dir], options_of().pricing)
    assert audit.is_right and audit.num_unchecked == len(requests)
    again = talk(tmp_path / "b", "http://127.0.0.1:9/v1", cassette, "provider.cassette.mode=replay")
    assert lines_of(again / "results.jsonl") == results


def test_a_user_that_cannot_be_understood_or_reached_voids_rollouts_and_scores_none(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("ACME_KEY", KEY)
    with chat_server(lambda request: "I am no JSON.") as (url, requests):
        run_dir = talk(tmp_path, url, "rollout.max_redispatch=0")
    asked = [r for r in lines_of(run_dir / "results.jsonl") if r["user_usd"]]
    assert asked and {result["status"] for result in asked} == {"void"}
    assert {result["is_solved"] for result in asked} == {None}
    assert all(result["user_usd"] == pytest.approx(3 * 4.5e-5) for result in asked)
    assert len(requests) == 3 * len(asked)
