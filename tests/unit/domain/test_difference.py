import subprocess
import sys

import pytest

from toolorchestra.domain.difference import difference, digest


@pytest.fixture
def database(shop):
    return shop.database.fresh()


def _after(database, collection, key, **changes):
    after = database.copy()
    after.update(collection, key, **changes)
    return after


@pytest.mark.parametrize(
    ("collection", "key", "changes"),
    [
        ("customers", "C1", {"balance": "10"}),
        ("customers", "C1", {"tags": ["kind", "new"]}),
        ("customers", "C1", {"checked_at": "noon"}),
        ("customers", "C2", {"address": {"city": None, "street": "Short Road 1"}}),
    ],
)
def test_what_means_the_same_makes_no_difference(database, collection, key, changes):
    after = _after(database, collection, key, **changes)
    assert difference(database, after) == ()
    assert digest(database) == digest(after)


@pytest.mark.parametrize(
    ("collection", "key", "changes", "text"),
    [
        (
            "customers",
            "C1",
            {"balance": "10.01"},
            'changed customers C1.balance: expected "10.00", got "10.01"',
        ),
        (
            "customers",
            "C1",
            {"address": {"street": "Long Road 4"}},
            'changed customers C1.address.city: expected "Sarn", got nothing',
        ),
        (
            "customers",
            "C1",
            {"tags": ["kind", "kind", "new"]},
            'changed customers C1.tags: expected ["kind","new"], got ["kind","kind","new"]',
        ),
        ("products", "P1", {"stock": 3}, "changed products P1.stock: expected 4, got 3"),
        (
            "customers",
            "C1",
            {"is_active": False},
            "changed customers C1.is_active: expected true, got false",
        ),
    ],
)
def test_a_changed_field_is_named_with_both_values(database, collection, key, changes, text):
    after = _after(database, collection, key, **changes)
    assert [str(change) for change in difference(database, after)] == [text]
    assert digest(database) != digest(after)


def test_added_and_missing_records_are_named(database):
    after = database.copy()
    after.remove("products", "P3")
    after.add("products", {"product_id": "P4", "size": "small", "stock": 1})
    assert [str(change) for change in difference(database, after)] == [
        'missing products P3: {"product_id":"P3","size":"large","stock":0}',
        'added products P4: {"product_id":"P4","size":"small","stock":1}',
    ]


def test_the_order_of_a_list_with_an_order_matters(database):
    order = {"order_id": "O2", "customer": "C1", "items": ["P1", "P2"], "stops": ["a", "b"]}
    left, items, stops = (database.copy() for _ in range(3))
    left.add("orders", order)
    items.add("orders", {**order, "items": ["P2", "P1"]})
    stops.add("orders", {**order, "stops": ["b", "a"]})
    assert difference(left, items) == ()
    assert [change.kind for change in difference(left, stops)] == ["removed", "added"]


def test_a_generated_key_makes_no_difference_but_the_number_of_records_does(database):
    order = {"customer": "C1", "items": ["P1"], "stops": ["Sarn"]}
    one, other, two = (database.copy() for _ in range(3))
    one.add("orders", {"order_id": "O2", **order})
    other.add("orders", {"order_id": "O77", **order})
    two.add("orders", {"order_id": "O2", **order})
    two.add("orders", {"order_id": "O3", **order})
    assert difference(one, other) == () and digest(one) == digest(other)
    (change,) = difference(one, two)
    assert str(change) == 'added orders: {"customer":"C1","items":["P1"],"stops":["Sarn"]}'


def test_the_order_in_which_records_were_written_makes_no_difference(database):
    left, right = database.copy(), database.copy()
    records = [{"product_id": f"P{n}", "size": "small", "stock": n} for n in (7, 8)]
    for record in records:
        left.add("products", record)
    for record in reversed(records):
        right.add("products", record)
    assert digest(left) == digest(right)


def test_the_digest_is_the_same_in_every_process(database, shop_copy):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from toolorchestra.domain.load import load_package\n"
        "from toolorchestra.domain.difference import digest\n"
        "print(digest(load_package(sys.argv[2]).database))"
    )
    command = [sys.executable, "-c", program, str(shop_copy.folder.parent), shop_copy.name]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == digest(database)
