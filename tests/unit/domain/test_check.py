import pytest

from toolorchestra.domain.check import database_problems, written_problems


@pytest.mark.parametrize(
    ("collection", "key", "changes", "problem"),
    [
        ("products", "P1", {"stock": "4"}, "products P1.stock: expected a whole number"),
        ("products", "P1", {"colour": "red"}, "products P1.colour: is unknown"),
        ("products", "P1", {"product_id": "P9"}, "products P1.product_id: the key was changed"),
        ("customers", "C1", {"balance": 10.0}, "customers C1.balance: expected money"),
        ("customers", "C1", {"address": {}}, "customers C1.address.street: is missing"),
        ("customers", "C2", {"email": "ann@example.org"}, "C2.email: 'ann@example.org' must be"),
        ("orders", "O1", {"customer": "C9"}, "orders O1.customer: refers to 'C9'"),
        ("orders", "O1", {"items": ["P1", "C1"]}, "orders O1.items[1]: refers to 'C1'"),
    ],
)
def test_what_the_schema_forbids_is_found(shop, collection, key, changes, problem):
    database = shop.database.fresh()
    assert list(database_problems(database)) == []
    database.update(collection, key, **changes)
    for problems in (database_problems, written_problems):
        ((place, found),) = problems(database)
        assert place == (collection, key) and problem in found


def test_removing_what_another_record_needs_is_found(shop):
    database = shop.database.fresh()
    database.remove("customers", "C1")
    for problems in (database_problems, written_problems):
        assert [place for place, _ in problems(database)] == [("orders", "O1")]


def test_a_value_that_an_older_record_has_is_found_whichever_of_them_was_written(shop):
    database = shop.database.fresh()
    database.update("customers", "C1", email="bob@example.org")
    ((place, problem),) = written_problems(database)
    assert place == ("customers", "C1") and "'bob@example.org' must be unique" in problem


def test_removing_what_no_record_needs_is_no_problem(shop):
    database = shop.database.fresh()
    database.remove("orders", "O1")
    database.remove("products", "P3")
    assert list(written_problems(database)) == []
