import json
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet
import pytest

from toolorchestra.dataset.toolscale_table import GoldenAction, read_toolscale

pytestmark = pytest.mark.usefixtures("own_cache")

ARGUMENTS = pa.struct(
    [
        ("book_id", pa.string()),
        ("start_date", pa.timestamp("s")),
        ("starts_at", pa.timestamp("s")),
        ("num_copies", pa.int64()),
        ("fee", pa.float64()),
        ("is_urgent", pa.bool_()),
        ("tags", pa.list_(pa.string())),
        ("address", pa.struct([("street", pa.string()), ("zip", pa.string())])),
        ("items", pa.list_(pa.struct([("sku", pa.string()), ("size", pa.int64())]))),
    ]
)
ACTION = pa.struct([("arguments", ARGUMENTS), ("name", pa.string()), ("action_id", pa.string())])
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        (
            "description",
            pa.struct(
                [("purpose", pa.string()), ("relevant_policies", pa.null()), ("notes", pa.null())]
            ),
        ),
        (
            "user_scenario",
            pa.struct(
                [
                    ("persona", pa.null()),
                    (
                        "instructions",
                        pa.struct(
                            [
                                ("task_instructions", pa.string()),
                                ("reason_for_call", pa.string()),
                                ("known_info", pa.string()),
                                ("unknown_info", pa.string()),
                                ("domain", pa.string()),
                            ]
                        ),
                    ),
                ]
            ),
        ),
        ("initial_state", pa.null()),
        (
            "evaluation_criteria",
            pa.struct([("actions", pa.list_(ACTION)), ("communicate_info", pa.list_(pa.string()))]),
        ),
    ]
)


def call(name, **arguments):
    return {"name": name, "action_id": f"{name}_0", "arguments": arguments}


def record(identity, actions, communicate=(), **told):
    fields = {
        "task_instructions": "You want to borrow Dune.",
        "reason_for_call": "A book.",
        "known_info": "Your card is L1.",
        "unknown_info": None,
        "domain": "library",
    }
    return {
        "id": identity,
        "description": {"purpose": "", "relevant_policies": None, "notes": None},
        "user_scenario": {"persona": None, "instructions": fields | told},
        "initial_state": None,
        "evaluation_criteria": {"actions": actions, "communicate_info": list(communicate)},
    }


def write(tmp_path, *records):
    path = tmp_path / "toolscale.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist(list(records), schema=SCHEMA), path)
    return str(path)


def test_a_record_holds_instruction_actions_and_what_is_to_be_said(tmp_path):
    path = write(tmp_path, record("17", [call("borrow", book_id="B1")], ["due on 3 May", "2"]))
    (found,) = read_toolscale(path)
    assert found.id == "17" and found.domain == "library"
    assert found.instruction == "You want to borrow Dune."
    assert (found.reason, found.known, found.unknown) == ("A book.", "Your card is L1.", "")
    assert found.actions == (GoldenAction(name="borrow", arguments={"book_id": "B1"}),)
    assert found.communicate == ("due on 3 May", "2")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {}),
        ({"start_date": datetime(2025, 5, 3)}, {"start_date": "2025-05-03"}),
        ({"starts_at": datetime(2025, 5, 3, 9, 30)}, {"starts_at": "2025-05-03T09:30:00"}),
        ({"num_copies": 0, "is_urgent": False, "fee": 0.0},) * 2,
        ({"book_id": "", "tags": []},) * 2,
        ({"tags": ["a", None]},) * 2,
        ({"address": {"street": None, "zip": "1"}}, {"address": {"zip": "1"}}),
        ({"address": {"street": None, "zip": None}}, {}),
        (
            {"items": [{"sku": "s", "size": None}, {"sku": None, "size": 2}]},
            {"items": [{"sku": "s"}, {"size": 2}]},
        ),
    ],
)
def test_filling_is_dropped_and_what_was_given_is_kept(tmp_path, arguments, expected):
    other = record("2", [call("other", book_id="x", fee=1.5)])
    path = write(tmp_path, record("1", [call("act", **arguments)]), other)
    found = list(read_toolscale(path))
    assert found[0].actions == (GoldenAction(name="act", arguments=expected),)
    assert json.loads(json.dumps(found[0].actions[0].arguments)) == expected
    assert found[1].actions[0].arguments == {"book_id": "x", "fee": 1.5}


def test_a_day_of_the_type_date_is_text_too(tmp_path):
    record_ = record("1", [call("act")])
    record_["evaluation_criteria"]["actions"][0]["arguments"] = {"day": date(2025, 5, 3)}
    pyarrow.parquet.write_table(pa.Table.from_pylist([record_]), tmp_path / "t.parquet")
    (found,) = read_toolscale(str(tmp_path / "t.parquet"))
    assert found.actions[0].arguments == {"day": "2025-05-03"}


def test_actions_stay_in_order_and_may_be_absent(tmp_path):
    path = write(tmp_path, record("1", [call("b"), call("a"), call("b")]), record("2", None))
    first, second = read_toolscale(path)
    assert [action.name for action in first.actions] == ["b", "a", "b"]
    assert second.actions == ()


@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        (record("", []), "row 1: id is empty; give it a value or remove the row"),
        (record(None, []), "row 1: id is empty"),
        (record("2", [], task_instructions=" "), "row 1: task_instructions is empty"),
        (record("2", [], task_instructions=None), "row 1: task_instructions is empty"),
        (record("2", [call(None)]), "row 1: an action has no name"),
        (record("2", [None]), "row 1: an action has no name"),
    ],
)
def test_a_faulty_row_is_refused_by_its_number(tmp_path, faulty, message):
    records = read_toolscale(write(tmp_path, record("1", []), faulty))
    assert next(records).id == "1"
    with pytest.raises(ValueError, match=message):
        next(records)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "a", "id": "1"}, "columns user_scenario, evaluation_criteria are missing; "),
        (
            {"id": "1", "user_scenario": "text", "evaluation_criteria": {"actions": []}},
            "column user_scenario has no field instructions; it has none; use a table in the form",
        ),
        (
            {"id": "1", "user_scenario": {"instructions": {}}, "evaluation_criteria": {"x": 1}},
            "column evaluation_criteria has no field actions; it has x; use a table in the form",
        ),
    ],
)
def test_a_table_with_other_columns_is_refused(tmp_path, row, message):
    (tmp_path / "t.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(ValueError, match=message) as caught:
        read_toolscale(str(tmp_path / "t.jsonl"))
    assert "\n" not in str(caught.value)


def test_bytes_are_refused_as_they_are_no_json(tmp_path):
    record_ = record("1", [call("act")])
    record_["evaluation_criteria"]["actions"][0]["arguments"] = {"picture": b"\xff"}
    pyarrow.parquet.write_table(pa.Table.from_pylist([record_]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="row 0, act: a value of the type bytes is no JSON"):
        list(read_toolscale(str(tmp_path / "t.parquet")))
