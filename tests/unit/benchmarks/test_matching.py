import json

import pytest
from benchmarks.matching.__main__ import table
from benchmarks.matching.cases import Case, public_cases, traps
from benchmarks.matching.matchers import bare_math_verify, exact, ours

from toolorchestra.types import Task

PUBLIC = """
import pytest, math

@pytest.mark.parametrize(
    "gold,pred,expected",
    [
        ("$5$", "5", 1),
        (r"$\\\\frac{1}{2}$", "0.5", 1),
        ("5", "6", 0),
        (f"{math.pi}", "3", 1),
    ],
)
def test_small(gold, pred, expected):
    raise AssertionError("never run")

@pytest.mark.parametrize("gold, pred, expected, precision", [("5", "5", 1, 3)])
def test_other_settings(gold, pred, expected, precision):
    pass

@pytest.mark.parametrize("pred,expected,config", [("A", ["a"], None)])
def test_no_gold(pred, expected, config):
    pass
"""


def case(gold, given, is_right=True, arguable="", group="g"):
    task = Task(id="c", skill="s", question="", answer=gold, answer_kind="number")
    return Case(group=group, task=task, given=given, is_right=is_right, arguable=arguable)


def test_our_matchers_are_right_on_every_trap_that_is_not_arguable():
    wrong = [
        (trap.group, trap.task.answer, trap.given[:50])
        for trap in traps()
        if not trap.arguable and ours(trap) is not trap.is_right
    ]
    assert wrong == []


def test_every_kind_of_answer_has_right_and_wrong_traps():
    found = {(trap.task.answer_kind, trap.is_right) for trap in traps()}
    kinds = {"text", "number", "choice", "date", "list", "set", "math", "yes_no"}
    assert found == {(kind, is_right) for kind in kinds for is_right in (True, False)}


def test_public_cases_are_read_and_never_run(tmp_path):
    path = tmp_path / "test_x.py"
    path.write_text(PUBLIC)
    found = public_cases(path)
    assert [(c.task.answer, c.given, c.is_right) for c in found] == [
        ("$5$", "5", True),
        (r"$\\frac{1}{2}$", "0.5", True),
        ("5", "6", False),
    ]
    assert {c.group for c in found} == {"test_x: small"}


@pytest.mark.parametrize(("change", "message"), [({"kind": None}, "kind"), ({"note": 1}, "note")])
def test_a_bad_line_is_refused(tmp_path, change, message):
    row = {"group": "g", "kind": "text", "gold": "a", "given": "a", "right": True} | change
    path = tmp_path / "traps.jsonl"
    path.write_text(json.dumps({k: v for k, v in row.items() if v is not None}))
    with pytest.raises(ValueError, match=rf"traps.jsonl:1: .*{message}"):
        traps(path)


def test_the_peers_see_the_same_texts():
    all_three = (ours, bare_math_verify, exact)
    assert [matcher(case("1,234", "1234")) for matcher in all_three] == [True, True, False]
    assert [matcher(case("5", " 5 ")) for matcher in all_three] == [True] * 3


def test_the_table_counts_by_group_and_leaves_arguable_cases_out_of_the_sum():
    cases = [
        case("1", "1", group="a"),
        case("1", "2", is_right=False, group="a"),
        case("1", "3", group="b"),
        case("1", "1", is_right=False, arguable="why"),
    ]
    lines = table(cases, {"m": [True, True, None, True]}).splitlines()
    assert "| a | 2 | 50 % |" in lines and "| b | 1 | 0 % |" in lines
    assert "| arguable | 1 | 0 % |" in lines and "| **all but arguable** | 3 | 33 % |" in lines
    assert "| wrong answers taken for right | 1 | 1 |" in lines
    assert "| right answers taken for wrong | 2 | 0 |" in lines
    assert "| not decided | 3 | 1 |" in lines
