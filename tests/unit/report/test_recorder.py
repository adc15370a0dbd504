from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.user.scene import said

from toolorchestra.report.metrics import read_metrics
from toolorchestra.report.recorder import (
    MOST_INCREMENTS,
    Recorder,
    open_journal,
    trajectory_rows,
    transcript,
)
from toolorchestra.report.trajectories import read_trajectories
from toolorchestra.types import (
    Group,
    Measures,
    Rollout,
    Score,
    ToolCall,
    ToolResult,
    Turn,
    UserMessage,
    Verdict,
)

METRICS = {
    "reward/mean": 0.5,
    "accuracy": 0.25,
    "utility": 0.3,
    "cost_cents": 1.5,
    "latency_s": 20.0,
    "drops/num_rollouts": 16.0,
    "drops/num_dropped": 10.0,
}


class Listener:
    """A tracker that remembers."""

    def __init__(self):
        self.points, self.rows = [], []

    def log(self, step, metrics):
        self.points.append((step, dict(metrics)))

    def log_rows(self, step, rows):
        self.rows += rows


@pytest.fixture
def make_group(make_episode):
    def make():
        turn = Turn(
            prompt_tokens=3, completion_ids=(1,), logprobs=(-0.5,), version=0,
            finish_reason="stop", text="<tool_call>…", thinking="", calls=(), errors=(),
            results=(ToolResult(call_id="c", name="calculator", content="answer: 4", status="ok"),),
            policy_cost_usd=0.0,
        )  # fmt: skip
        rollout = Rollout(
            episode_id="e", sample=0, status="answered", turns=(turn,), rows=(), answer="4",
            ledger=(),
        )  # fmt: skip
        measures = Measures(tool_counts={}, outcome=1.0, cost_usd=0.02, latency_s=3.0)
        score = Score(
            reward=0.75, terms={}, measures=measures, verdict=Verdict(is_solved=True, decided_by="")
        )
        return Group(episode=make_episode(), rollouts=(rollout,), scores=(score,))

    return make


def recorder(folder, *, first_step=0, max_steps=8, listener=None, say=lambda line: None):
    return Recorder(
        open_journal(folder, first_step=first_step),
        listener or Listener(),
        first_step=first_step,
        max_steps=max_steps,
        trajectories_per_step=1,
        say=say,
    )


def record(writer, steps, group):
    for step in steps:
        writer.record(step, [group, group], METRICS | {"accuracy": step / 8})


def test_a_step_goes_to_csv_to_jsonl_to_the_tracker_and_to_the_terminal(tmp_path, make_group):
    listener, lines = Listener(), []
    record(recorder(tmp_path, listener=listener, say=lines.append), [0], make_group())
    assert read_metrics(tmp_path / "metrics.csv")[0]["cost_cents"] == 1.5
    assert [item.step for item in read_trajectories(tmp_path / "trajectories.jsonl")] == [0, 0]
    assert listener.points[0][1]["reward/mean"] == 0.5
    assert len(listener.rows) == 1  # trajectories_per_step
    assert lines[0].startswith("step 1/8  reward 0.500  accuracy 0.000  utility 0.300  1.50 cents")
    assert "trained on 6/16" in lines[0]


@pytest.mark.parametrize(("max_steps", "num_rows"), [(8, 8), (100, 100), (101, 51), (250, 84)])
def test_a_long_run_sends_no_more_increments_of_its_table_than_are_shown(
    tmp_path, make_group, max_steps, num_rows
):
    listener = Listener()
    writer = recorder(tmp_path, max_steps=max_steps, listener=listener)
    record(writer, range(max_steps), make_group())
    assert len(listener.rows) == num_rows <= MOST_INCREMENTS


def test_a_trajectory_row_holds_the_talk_and_its_score(make_group):
    (row,) = trajectory_rows([make_group()], 4)
    assert row["transcript"] == "<tool_call>…\nanswer: 4"
    assert (row["answer"], row["expected"], row["reward"], row["cost_usd"]) == (
        "4",
        "4",
        0.75,
        0.02,
    )


def test_a_group_whose_rollouts_were_all_void_makes_no_row(make_episode):
    assert trajectory_rows([Group(episode=make_episode(), rollouts=(), scores=())], 4) == []


def test_a_resumed_journal_holds_each_step_once(tmp_path, make_group):
    record(recorder(tmp_path), range(5), make_group())
    record(recorder(tmp_path, first_step=3), range(3, 8), make_group())
    assert [row["step"] for row in read_metrics(tmp_path / "metrics.csv")] == list(range(8))
    steps = [item.step for item in read_trajectories(tmp_path / "trajectories.jsonl")]
    assert steps == [step for step in range(8) for _ in range(2)]


def test_the_pace_counts_the_steps_of_this_process_alone(tmp_path, make_group, monkeypatch):
    record(recorder(tmp_path), range(4), make_group())
    now = iter([100.0, 110.0])  # opened at 100 s, first step done at 110 s: 10 s a step, 3 to go
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    lines = []
    record(recorder(tmp_path, first_step=4, say=lines.append), [4], make_group())
    assert lines[0].endswith("10.0 s a step, 0:30 left")


@pytest.mark.parametrize("name", ["metrics.csv", "trajectories.jsonl"])
@pytest.mark.parametrize("damage", ["delete", "cut"])
def test_a_file_that_ends_before_the_checkpoint_is_refused_and_left_alone(
    tmp_path, make_group, name, damage
):
    record(recorder(tmp_path), range(4), make_group())
    path = tmp_path / name
    if damage == "delete":
        path.unlink()
    else:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=rf"{name} ends before step 4.*start anew"):
        open_journal(tmp_path, first_step=4)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_last_trajectory_line_that_is_corrupt_is_named(tmp_path, make_group):
    record(recorder(tmp_path), range(2), make_group())
    with (tmp_path / "trajectories.jsonl").open("a") as file:
        file.write("{]\n")
    with pytest.raises(ValueError, match=r"trajectories\.jsonl: its last line is corrupt"):
        open_journal(tmp_path, first_step=2)


def test_a_line_cut_by_a_kill_does_not_count(tmp_path, make_group):
    record(recorder(tmp_path), range(3), make_group())
    path = tmp_path / "trajectories.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    record(recorder(tmp_path, first_step=2), [2], make_group())
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [
        0,
        0,
        1,
        1,
        2,
        2,
    ]


def test_a_transcript_holds_what_the_user_did_and_said():
    call = ToolCall(id="user_call_0", name="read_slip", arguments={"locker_id": "L1"})
    result = ToolResult(call_id="user_call_0", name="read_slip", content="4711", status="ok")
    answer = UserMessage(text="It is 4711.", calls=(call,), results=(result,))
    assert transcript(said("The slip?", answer)) == [
        "The slip?",
        'user: read_slip {"locker_id": "L1"}',
        "4711",
        "user: It is 4711.",
    ]
    assert transcript(said("Bye.", UserMessage(text="", is_last=True))) == ["Bye."]


def test_what_a_user_did_and_said_is_read_back_as_it_was_written(tmp_path, make_group):
    call = ToolCall(id="user_call_0", name="read_slip", arguments={"locker_id": "L1"})
    result = ToolResult(call_id="user_call_0", name="read_slip", content="4711", status="ok")
    answer = UserMessage(text="It is 4711.", calls=(call,), results=(result,))
    group = make_group()
    turns = (*group.rollouts[0].turns, said("The slip?", answer))
    group = replace(group, rollouts=(replace(group.rollouts[0], turns=turns),))
    recorder(tmp_path).record(0, [group], METRICS)
    (logged,) = read_trajectories(tmp_path / "trajectories.jsonl")
    assert logged.group == group
