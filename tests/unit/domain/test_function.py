import datetime
from decimal import Decimal
from typing import Literal

import jsonschema
import pytest

from toolorchestra.domain.database import Database
from toolorchestra.domain.difference import digest
from toolorchestra.domain.fault import BadDomain, DomainBug, DomainError
from toolorchestra.domain.function import call_function, read_function


def everything(
    db: Database,
    text: str,
    number: int,
    flag: bool,
    amount: Decimal,
    day: datetime.date,
    size: Literal["small", "large"],
    items: list[str],
    note: str | None = None,
) -> str:
    """Take one of each
    kind.

    More is said here.

    Args:
        text: A text.
        number: A number
            of things: whole.
        flag: Yes or no.
        amount: Money.
        day: A day.
        size: A size.
        items: Some items.
        note: A note.

    Returns:
        What it got.
    """
    return repr((text, number, flag, amount, day, size, items, note))


_ARGUMENTS = {
    "text": "t",
    "number": 3,
    "flag": True,
    "amount": "10.50",
    "day": "2031-05-14",
    "size": "small",
    "items": ["a"],
}


def test_a_schema_is_read_from_annotations_and_docstring():
    tool = read_function(everything)
    assert tool.name == "everything"
    assert tool.description == "Take one of each kind. More is said here."
    properties = tool.parameters["properties"]
    assert properties["number"] == {"type": "integer", "description": "A number of things: whole."}
    assert properties["size"]["enum"] == ["small", "large"]
    assert properties["items"]["items"] == {"type": "string"}
    assert properties["note"]["type"] == "string"
    assert tool.parameters["required"] == list(_ARGUMENTS)
    jsonschema.Draft202012Validator.check_schema(tool.parameters)
    jsonschema.validate(_ARGUMENTS, tool.parameters)


def test_arguments_reach_the_function_as_annotated(shop):
    _, result = call_function(shop.database, read_function(everything), _ARGUMENTS)
    assert result == (
        "('t', 3, True, Decimal('10.50'), datetime.date(2031, 5, 14), 'small', ['a'], None)"
    )


@pytest.mark.parametrize("amount", [10.1, "10.1", "10.10"])
def test_an_amount_may_be_written_as_a_number_and_is_exact(amount):
    given = read_function(everything).read_arguments({**_ARGUMENTS, "amount": amount})
    assert given["amount"] == Decimal("10.1")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"text": 3}, "text: expected a text; got 3"),
        ({"number": "3"}, "number: expected a whole number; got '3'"),
        ({"number": True}, "number: expected a whole number; got True"),
        ({"flag": "yes"}, "flag: expected true or false"),
        ({"amount": "ten"}, "amount: expected an amount"),
        ({"amount": True}, "amount: expected an amount"),
        ({"amount": float("nan")}, "amount: expected an amount"),
        ({"day": "2031-02-30"}, "day: expected a date"),
        ({"day": 3}, "day: expected a date"),
        ({"size": "huge"}, "size: expected one of small, large"),
        ({"size": ["small"]}, "size: expected one of small, large"),
        ({"items": "a"}, "items: expected a list"),
        ({"items": ["a", 3]}, r"items\[1\]: expected a text"),
        ({"text": None}, "text: expected a text; got None"),
        ({"colour": "red"}, "colour: is no argument of everything; it takes text, number"),
    ],
)
def test_a_wrong_argument_is_the_callers_fault(changes, reason):
    with pytest.raises(DomainError, match=reason):
        read_function(everything).read_arguments({**_ARGUMENTS, **changes})


def test_a_missing_argument_is_the_callers_fault():
    with pytest.raises(DomainError, match="text: is missing; everything needs it"):
        read_function(everything).read_arguments({})


def test_functions_that_cannot_be_tools_are_refused():
    def no_db(x: str) -> str:
        """D."""
        return x

    def not_annotated(db: Database, x) -> str:
        """D."""
        return ""

    def not_described(db: Database, x: str) -> str:
        """D."""
        return x

    def no_docstring(db: Database) -> str:
        return ""

    def odd_type(db: Database, x: float) -> str:
        """D.

        Args:
            x: A float.
        """
        return ""

    for function, reason in (
        (no_db, "its first argument must be db"),
        (not_annotated, "x is not annotated"),
        (not_described, "x is not described"),
        (no_docstring, "has no docstring"),
        (odd_type, "float'> is not allowed"),
    ):
        with pytest.raises(BadDomain, match=reason):
            read_function(function)


def test_a_call_changes_a_copy(shop):
    credit = shop.functions["credit"]
    after, result = call_function(shop.database, credit, {"customer_id": "C1", "amount": "0.10"})
    assert result == {"balance": "10.10"}
    assert after.get("customers", "C1")["balance"] == "10.10"
    assert shop.database.get("customers", "C1")["balance"] == "10.00"


def test_a_call_that_fails_in_the_middle_changes_nothing(shop):
    environment = shop.begin(shop.tasks["order"])
    before = digest(environment.database)
    arguments = {"customer_id": "C1", "items": ["P1", "P3"], "stops": []}
    outcome = environment.call("place_order", arguments)
    assert not outcome.is_ok and outcome.content == "P3 is out of stock"
    assert digest(environment.database) == before
    assert not environment.database.written and not environment.database.read


def test_a_tool_that_does_not_exist_is_the_policys_fault(shop):
    outcome = shop.begin(shop.tasks["order"]).call("fly", {})
    assert not outcome.is_ok
    assert outcome.content.startswith("there is no tool 'fly'; use get_customer, ")


def test_results_are_json_and_texts_stay_as_they_are(shop):
    environment = shop.begin(shop.tasks["order"])
    assert environment.call("find_customers", {}).content == '["C1", "C2"]'
    assert environment.call("find_customers", {"is_active": True}).content == '["C1"]'
    assert environment.call("find_customers", {"is_active": None}).content == '["C1", "C2"]'
    assert environment.call("count_stock", {"size": "large"}).content == "42"
    tags = environment.call("set_tags", {"customer_id": "C1", "tags": []})
    assert tags.is_ok and tags.content == "done"


def _break_schema(db: Database) -> str:
    """Leave a record that the schema forbids."""
    db.update("products", "P1", stock=1.5)
    return "done"


def _crash(db: Database) -> str:
    """Raise something."""
    db.update("products", "P1", stock=1)
    raise KeyError("stock")


def _give_no_json(db: Database) -> object:
    """Give something that is no JSON."""
    return {1, 2}


def _orphan(db: Database) -> str:
    """Remove what another record needs."""
    db.remove("customers", "C1")
    return "done"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_break_schema, "_break_schema left a record that the schema forbids: products P1.stock"),
        (_crash, "_crash broke: KeyError: 'stock'"),
        (_give_no_json, "_give_no_json broke: TypeError"),
        (_orphan, "orders O1.customer: refers to 'C1', which is not in customers"),
    ],
)
def test_a_function_that_breaks_is_a_bug_of_the_domain_and_changes_nothing(shop, function, reason):
    before = digest(shop.database)
    with pytest.raises(DomainBug, match=reason):
        call_function(shop.database, read_function(function), {})
    assert digest(shop.database) == before
