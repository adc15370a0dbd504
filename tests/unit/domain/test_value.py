from decimal import Decimal

import pytest

from toolorchestra.domain.schema import Field
from toolorchestra.domain.value import canonical_value, money, money_text, value_problems


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("text", "a", 3),
        ("whole", 3, True),
        ("whole", -3, 3.0),
        ("whole", 0, "3"),
        ("yes_no", False, 0),
        ("yes_no", True, "true"),
        ("date", "2032-02-29", "2031-02-29"),
        ("date", "2031-05-14", "2031-5-14"),
        ("date", "2031-05-14", "14 May 2031"),
        ("money", "10.50", 10.5),
        ("money", "10", 10),
        ("money", "-0.01", "1e3"),
        ("money", "10", "10.50 EUR"),
        ("money", "10", "1,628"),
        ("money", "10", "Infinity"),
        ("text", "", None),
    ],
)
def test_a_field_takes_values_of_its_kind_alone(kind, good, bad):
    field = Field(kind=kind)
    assert list(value_problems(field, good, "x")) == []
    (problem,) = value_problems(field, bad, "x")
    assert problem.startswith("x: ")


def test_a_choice_takes_only_what_it_lists():
    field = Field(kind="choice", choices=("a", "b"))
    assert list(value_problems(field, "b", "x")) == []
    assert list(value_problems(field, "c", "x")) == ["x: expected one of a, b; got 'c'"]


def test_the_place_of_a_problem_leads_into_lists_and_records():
    inner = Field(kind="record", fields={"n": Field(kind="whole")})
    field = Field(kind="list", of=inner)
    assert list(value_problems(field, [{"n": 1}, {"n": "2"}, {"m": 1}], "x")) == [
        "x[1].n: expected a whole number; got '2'",
        "x[2].m: is unknown; use n",
        "x[2].n: is missing",
    ]
    assert list(value_problems(field, "n", "x")) == ["x: expected a list; got 'n'"]
    assert list(value_problems(field, ["n"], "x")) == ["x[0]: expected an object; got 'n'"]


def test_an_optional_field_may_be_absent():
    assert list(value_problems(Field(kind="whole", optional=True), None, "x")) == []


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        ("10", "10.00", True),
        ("0.1", "0.10", True),
        ("-0", "0.00", True),
        ("007", "7", True),
        ("10.00", "10.01", False),
        ("0.001", "0", False),
        ("999999999999999.000001", "999999999999999", False),
    ],
)
def test_amounts_are_the_same_where_their_numbers_are(left, right, is_same):
    field = Field(kind="money")
    assert (canonical_value(field, left) == canonical_value(field, right)) is is_same


def test_money_is_exact():
    assert money_text(sum([money("0.10")] * 3, Decimal(0))) == "0.30"
    assert money_text(money("1000")) == "1000.00"
    assert money_text(money("0.125")) == "0.125"
    with pytest.raises(ValueError, match="'1e3' is no amount"):
        money("1e3")


def test_only_an_unordered_list_loses_its_order_and_never_its_repetitions():
    ordered = Field(kind="list", of=Field(kind="text"))
    unordered = Field(kind="list", ordered=False, of=Field(kind="text"))
    assert canonical_value(ordered, ["b", "a"]) == ["b", "a"]
    assert canonical_value(unordered, ["b", "a", "b"]) == ["a", "b", "b"]


def test_an_unordered_list_of_records_is_canonical_whatever_the_order_of_their_fields():
    inner = Field(kind="record", fields={"a": Field(kind="money"), "b": Field(kind="text")})
    field = Field(kind="list", ordered=False, of=inner)
    left = [{"a": "1", "b": "x"}, {"a": "2.0", "b": "y"}]
    right = [{"b": "y", "a": "2"}, {"b": "x", "a": "1.00"}]
    assert canonical_value(field, left) == canonical_value(field, right)
