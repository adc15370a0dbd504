import json

import pytest
from tests.invariant.records import SOLVED, episode, measures, rollout

from toolorchestra.benchmark.evaluate import trial_of
from toolorchestra.report.records import TrialRecords
from toolorchestra.report.samples import read_samples
from toolorchestra.report.trajectories import TrajectoryLog
from toolorchestra.rollout.group import Played
from toolorchestra.types import Group, Score


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_plain_lines_are_read_with_all_that_a_matcher_needs(tmp_path):
    full = {"question": "Which?", "answer": "B", "given": "Paris", "answer_kind": "choice"}
    full |= {"options": ["Rome", "Paris"], "aliases": ["b"], "id": "q1"}
    short = {"question": "Where?", "answer": "Rome", "given": None}
    one, two = read_samples(write(tmp_path / "a.jsonl", json.dumps(full), json.dumps(short)))
    assert (one.task.id, one.task.answer_kind, one.given) == ("q1", "choice", "Paris")
    assert one.task.metadata == {"options": ["Rome", "Paris"], "aliases": ["b"]}
    assert (two.task.id, two.task.answer_kind, two.given) == ("line 2", "text", None)


def test_trajectories_of_training_are_read(tmp_path):
    score = Score(reward=1.0, terms={}, measures=measures(), verdict=SOLVED)
    rollouts = (rollout(answer="4"), rollout(answer=None, sample=1))
    group = Group(episode=episode(), rollouts=rollouts, scores=(score, score))
    log = TrajectoryLog(tmp_path / "trajectories.jsonl")
    log.write(0, [group])
    log.write(1, [group])
    samples = read_samples(tmp_path / "trajectories.jsonl")
    assert [sample.given for sample in samples] == ["4", None] * 2
    assert samples[0].task == episode().task


def test_trials_of_an_evaluation_are_read_without_void_ones(tmp_path):
    path = tmp_path / "evaluation_trajectories.jsonl"
    records = TrialRecords(path, hashes={}, default_hash="")
    played = [
        Played(episode=episode(), rollouts=(item,), verdicts=(verdict,), num_void=0)
        for item, verdict in (
            (rollout(answer="4"), SOLVED),
            (rollout(status="void", answer=None, sample=1), None),
        )
    ]
    for item in played:
        records.write(trial_of("p", "w", item))
    samples = read_samples(path)
    assert [sample.given for sample in samples] == ["4"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "q", "answer": "a"}', "use an object with question, answer, given"),
        ('{"question": "q", "answer": "a", "given": "x", "gold": 1}', "use an object with"),
        ('{"question": 1, "answer": "a", "given": "x"}', "question is not allowed; use a text"),
        ('{"question": "q", "answer": "a", "given": 4}', "given is not allowed; use a text"),
        (
            '{"question": "q", "answer": "a", "given": "x", "aliases": "a"}',
            "aliases is not allowed; use a list",
        ),
        ("{", "cannot be read as JSON lines"),
        ("[]", "use an object with"),
        ("", "cannot be read|holds no answer|is not JSON"),
    ],
)
def test_bad_lines_are_refused_by_file(tmp_path, line, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_samples(write(tmp_path / "a.jsonl", line))
    assert "a.jsonl" in str(caught.value)


def test_a_missing_or_empty_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        read_samples(tmp_path / "none.jsonl")
    with pytest.raises(ValueError, match="holds no answer"):
        read_samples(write(tmp_path / "empty.jsonl"))


def test_what_was_done_for_a_goal_of_a_domain_is_no_answer_to_be_judged_again(tmp_path):
    goal = {"question": "Renew it.", "answer": "", "given": "Done.", "answer_kind": "domain"}
    other = {"question": "Where?", "answer": "Rome", "given": "Rome"}
    path = write(tmp_path / "a.jsonl", json.dumps(goal), json.dumps(other))
    assert [sample.task.answer for sample in read_samples(path)] == ["Rome"]
    with pytest.raises(ValueError, match="it holds no answer"):
        read_samples(write(path, json.dumps(goal)))
