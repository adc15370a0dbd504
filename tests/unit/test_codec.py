import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolorchestra.codec import from_json, to_json
from toolorchestra.types import (
    CallError,
    Episode,
    Group,
    LedgerEntry,
    Measures,
    Price,
    Rollout,
    Row,
    Score,
    Task,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    Verdict,
)

ROLLOUT = Rollout(
    episode_id="e",
    sample=0,
    status="answered",
    turns=(
        Turn(
            prompt_tokens=3,
            completion_ids=(7, 8),
            logprobs=(-0.1, -1e-17),
            version=2,
            finish_reason="stop",
            text="Zürich ⏎\u2028",
            thinking="",
            calls=(ToolCall(id="c1", name="search", arguments={"q": [1, None, {"a": 0.5}]}),),
            errors=(CallError(message="no JSON", text="{"),),
            results=(ToolResult(call_id="c1", name="search", content="", status="abstained"),),
            policy_cost_usd=0.25,
        ),
    ),
    rows=(Row(ids=(1, 7), loss_mask=(0, 1), logprobs=(0.0, -0.1), versions=(-1, 2)),),
    answer=None,
    ledger=(
        LedgerEntry(
            kind="tool",
            name="search",
            priced_as=("Big", "search"),
            usage=Usage(compute_s=1.5, num_requests=2),
            cost_usd=0.1,
            latency_s=2.0,
            turn=0,
        ),
    ),
)
SCORE = Score(
    reward=0.1 + 0.2,
    terms={"outcome": 0.3},
    measures=Measures(tool_counts={"search": 1}, outcome=1.0, cost_usd=0.1, latency_s=2.0),
    verdict=Verdict(is_solved=None, decided_by="judge"),
)
PRICE = {
    "usd_per_input_mtok": 0.0,
    "usd_per_output_mtok": 0.0,
    "usd_per_cached_input_mtok": None,
    "usd_per_call": 0.0,
    "usd_per_second": 0.0,
    "source": "s",
    "date": "d",
    "borrowed_from": None,
}


def through_text(kind, record):
    return from_json(kind, json.loads(json.dumps(to_json(record), allow_nan=False)))


def test_a_group_with_every_record_reads_back_equal(make_episode):
    group = Group(episode=make_episode(), rollouts=(ROLLOUT,), scores=(SCORE,))
    assert through_text(Group, group) == group


def test_tuples_come_back_as_tuples_so_that_records_stay_hashable_where_they_were():
    row = through_text(Row, ROLLOUT.rows[0])
    assert hash(row) == hash(ROLLOUT.rows[0])


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values, max_size=4), st.text())
def test_any_json_metadata_and_text_survive(metadata, text):
    task = Task(id="t", skill="math", question=text, answer=text, metadata=metadata)
    assert through_text(Task, task) == task


def test_whole_numbers_are_taken_for_floats_as_hand_written_files_have_them():
    price = from_json(Price, PRICE | {"usd_per_call": 1})
    assert type(price.usd_per_call) is float


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"usd_per_call": "0.1"}, "Price.usd_per_call: expected a finite number; got '0.1'"),
        ({"usd_per_call": True}, "Price.usd_per_call: expected a finite number; got True"),
        ({"usd_per_call": None}, "Price.usd_per_call: expected a finite number; got None"),
        ({"usd_per_call": float("nan")}, "Price.usd_per_call: expected a finite number; got nan"),
        ({"usd_per_cached_input_mtok": "x"}, "Price.usd_per_cached_input_mtok: expected a finite"),
        ({"source": 3}, "Price.source: expected a string; got 3"),
        ({"colour": 1}, "Price: key 'colour' is unknown; use usd_per_input_mtok, "),
    ],
)
def test_a_wrong_value_is_named_with_its_path(change, message):
    with pytest.raises(ValueError, match="^" + message.replace(".", r"\.")):
        from_json(Price, PRICE | change)


@pytest.mark.parametrize("key", sorted(PRICE))
def test_a_missing_key_is_named_even_where_the_field_has_a_default(key):
    value = {name: item for name, item in PRICE.items() if name != key}
    with pytest.raises(ValueError, match=f"^Price: key '{key}' is missing: .* another version"):
        from_json(Price, value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("turns", 0, "version"), 2.0, r"Rollout\.turns\[0\]\.version: expected an integer; got 2"),
        (("turns", 0, "completion_ids", 1), True, r"completion_ids\[1\]: expected an integer"),
        (("turns", 0, "logprobs", 0), float("inf"), r"logprobs\[0\]: expected a finite number"),
        (("turns", 0, "calls", 0, "arguments"), "{}", r"calls\[0\]\.arguments: expected an object"),
        (
            ("turns", 0, "finish_reason"),
            "eos",
            r"finish_reason: expected one of stop, length, content_filter; got",
        ),
        (("turns",), {"0": 1}, r"Rollout\.turns: expected a list"),
        (("rows", 0, "ids"), [1], r"Rollout\.rows\[0\]: row fields differ in length"),
        (("status",), ["void"], r"Rollout\.status: expected one of answered"),
    ],
)
def test_damage_deep_inside_a_rollout_is_found(path, value, message):
    data = to_json(ROLLOUT)
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        from_json(Rollout, data)


@pytest.mark.parametrize("value", [None, [], 3, "text"])
def test_what_is_no_object_is_no_record(value):
    with pytest.raises(ValueError, match="^Episode: expected an object"):
        from_json(Episode, value)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"x": {1, 2}}, r"Task\.metadata\.x: a set cannot be written"),
        ({"x": [0.0, float("nan")]}, r"Task\.metadata\.x\[1\]: nan cannot be written"),
        ({"x": {1: 2}}, r"Task\.metadata\.x: key 1 cannot be written"),
    ],
)
def test_what_json_cannot_hold_is_refused_when_writing(metadata, message):
    task = Task(id="t", skill="math", question="q", answer="a", metadata=metadata)
    with pytest.raises(ValueError, match=message):
        to_json(task)


def test_a_long_wrong_value_is_shortened_in_the_message():
    with pytest.raises(ValueError) as caught:
        from_json(Rollout, to_json(ROLLOUT) | {"sample": "x" * 10_000})
    assert len(str(caught.value)) < 120


def test_records_are_untouched_by_writing():
    before = replace(ROLLOUT)
    to_json(ROLLOUT)["turns"].clear()
    assert before == ROLLOUT
