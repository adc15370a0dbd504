"""A function is tried out by its examples."""

from __future__ import annotations

import itertools

import pytest
from tests.unit.synthesis.domain.shop import shop

from toolorchestra.domain.database import Database
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.function import read_functions
from toolorchestra.synthesis.domain.trial import Example, trial_problem

_COUNTER = itertools.count()


def stock_of(db: Database, product_id: str) -> int:
    """Look up.

    Args:
        product_id: Which.
    """
    return db.get("products", product_id)["stock"]


def sell(db: Database, product_id: str) -> str:
    """Sell.

    Args:
        product_id: Which.
    """
    stock = db.get("products", product_id)["stock"]
    if not stock:
        raise DomainError("sold out")
    db.update("products", product_id, stock=stock - 1)
    return "sold"


def fickle(db: Database) -> int:
    """Says something else each time."""
    return next(_COUNTER)


def broken(db: Database) -> int:
    """Breaks."""
    return 1 // 0


def spoil(db: Database) -> int:
    """Writes what the schema forbids."""
    db.update("products", "P1", stock="many")
    return 1


DOMAIN = Domain(
    name="shop",
    database=shop().database,
    functions=read_functions((stock_of, sell, fickle, broken, spoil)),
    policy="",
    tasks={},
)


def problem(name, *examples, is_write=False):
    tried = [Example(arguments=arguments, works=works) for arguments, works in examples]
    return trial_problem(DOMAIN, name, tried, is_write=is_write)


P1, P3, NONE = {"product_id": "P1"}, {"product_id": "P3"}, {"product_id": "P9"}


def test_a_function_that_does_what_its_examples_say_is_good():
    assert problem("stock_of", (P1, True), (NONE, False)) is None
    assert problem("sell", (P1, True), (P3, False), is_write=True) is None


@pytest.mark.parametrize(
    ("name", "examples", "is_write", "reason"),
    [
        ("stock_of", [], False, "examples: none is to succeed"),
        ("stock_of", [(NONE, False)], False, "examples: none is to succeed"),
        ("stock_of", [(P1, True), (NONE, True)], False, "fails, and is not to"),
        ("sell", [(P1, True), (P1, False)], True, "example 2, sell {'product_id': 'P1'}: succeeds"),
        ("stock_of", [({"id": "P1"}, True)], False, "id: is no argument of stock_of"),
        ("fickle", [({}, True)], False, "gives another result when it is called again"),
        ("broken", [({}, True)], False, "ZeroDivisionError"),
        ("spoil", [({}, True)], True, "left a record that the schema forbids"),
        ("stock_of", [(P1, True)], True, "none of them changes a record"),
        ("sell", [(P1, True)], False, "the function is only to look up"),
    ],
)
def test_what_is_wrong_is_said_with_the_example(name, examples, is_write, reason):
    assert reason in (problem(name, *examples, is_write=is_write) or "")


def test_records_stay_as_they_were():
    problem("sell", (P1, True), is_write=True)
    assert DOMAIN.database.records["products"]["P1"]["stock"] == 4
