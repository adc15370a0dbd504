import json

import pytest

from toolorchestra.report.trajectories import (
    LoggedGroup,
    TrajectoryLog,
    read_trajectories,
)
from toolorchestra.types import Group, Measures, Rollout, Score, Verdict


@pytest.fixture
def make_group(make_episode):
    def make(text="4"):
        rollout = Rollout(
            episode_id="e", sample=0, status="answered", turns=(), rows=(), answer=text, ledger=()
        )
        measures = Measures(tool_counts={}, outcome=1.0, cost_usd=0.0, latency_s=0.0)
        verdict = Verdict(is_solved=True, decided_by="match:text")
        score = Score(reward=1.0, terms={"outcome": 1.0}, measures=measures, verdict=verdict)
        return Group(episode=make_episode(), rollouts=(rollout,), scores=(score,))

    return make


def write_steps(path, groups, *, keep_through=-1):
    log = TrajectoryLog(path, keep_through=keep_through)
    for step in range(keep_through + 1, len(groups)):
        log.write(step, [groups[step], groups[step]])


def test_groups_read_back_equal_with_their_steps(tmp_path, make_group):
    groups = [make_group("Zürich\u2028\n"), make_group("4")]
    write_steps(tmp_path / "t.jsonl", groups)
    expected = [LoggedGroup(step=i, group=g) for i, g in enumerate(groups) for _ in range(2)]
    assert list(read_trajectories(tmp_path / "t.jsonl")) == expected


def test_each_line_is_one_json_object_that_leads_with_its_step(tmp_path, make_group):
    write_steps(tmp_path / "t.jsonl", [make_group("a\nb")])
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [["step", "group"]] * 2


@pytest.mark.parametrize("checkpoint", [-1, 0, 1, 2])
@pytest.mark.parametrize("lost_bytes", [0, 1, 40, 2000])
def test_a_resumed_file_equals_one_never_killed(tmp_path, make_group, checkpoint, lost_bytes):
    path = tmp_path / "t.jsonl"
    groups = [make_group(str(i)) for i in range(4)]
    write_steps(path, groups)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - lost_bytes])
    write_steps(path, groups, keep_through=checkpoint)
    assert path.read_bytes() == whole


def test_a_cut_last_line_is_an_error_unless_it_may_be_skipped(tmp_path, make_group):
    path = tmp_path / "t.jsonl"
    write_steps(path, [make_group(), make_group()])
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"t\.jsonl:4: the line is cut off"):
        list(read_trajectories(path))
    assert len(list(read_trajectories(path, skip_truncated_last_line=True))) == 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda line: line[:50], "the line is not JSON"),
        (lambda line: b"\xff" + line, "the line is not JSON"),
        (lambda line: b"", "the line is not JSON"),
        (lambda line: line.replace(b'"sample": 0', b'"sample": "0"'), r"rollouts\[0\]\.sample"),
        (lambda line: line.replace(b'"step": 0', b'"stop": 0'), "key 'step' is missing"),
    ],
)
def test_a_corrupt_line_in_the_middle_is_named_even_when_skipping(
    tmp_path, make_group, damage, message
):
    path = tmp_path / "t.jsonl"
    write_steps(path, [make_group()])
    first, second = path.read_bytes().splitlines()
    path.write_bytes(first + b"\n" + damage(second) + b"\n" + first + b"\n")
    with pytest.raises(ValueError, match=rf"t\.jsonl:2: .*{message}") as caught:
        list(read_trajectories(path, skip_truncated_last_line=True))
    assert "\n" not in str(caught.value)


def test_resuming_over_a_corrupt_kept_line_is_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"group": 1}\n')
    with pytest.raises(ValueError, match=r"t\.jsonl:1: the line names no step"):
        TrajectoryLog(path, keep_through=3)
    assert path.read_text() == '{"group": 1}\n'


@pytest.mark.parametrize("field", ["policy_priced_as", "policy_price"])
def test_a_file_of_before_a_field_existed_is_refused_in_one_sentence(tmp_path, make_group, field):
    path = tmp_path / "t.jsonl"
    write_steps(path, [make_group()])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["group"]["episode"][field]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ValueError, match=f"t.jsonl:1: .*'{field}' is missing: .*another version"):
        list(read_trajectories(path))
