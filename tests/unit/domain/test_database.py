import pytest

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.schema import Collection, Field, Schema


def test_a_copy_is_changed_alone(shop):
    copy = shop.database.copy()
    copy.update("products", "P1", stock=9)
    copy.remove("products", "P3")
    assert shop.database.get("products", "P1")["stock"] == 4
    assert shop.database.has("products", "P3") and not copy.has("products", "P3")


def test_what_a_reader_does_to_its_copy_changes_nothing(shop):
    database = shop.database.fresh()
    database.get("customers", "C1")["tags"].append("rude")
    database.where("customers", customer_id="C1")[0]["address"]["city"] = "Tolm"
    customer = database.get("customers", "C1")
    assert customer["tags"] == ["new", "kind"] and customer["address"]["city"] == "Sarn"


def test_what_a_writer_keeps_of_its_record_changes_nothing(shop):
    database = shop.database.fresh()
    tags = ["a"]
    database.update("customers", "C1", tags=tags)
    record = {"order_id": "O5", "customer": "C1", "items": [], "stops": []}
    database.add("orders", record)
    tags.append("b")
    record["stops"].append("Sarn")
    assert database.get("customers", "C1")["tags"] == ["a"]
    assert database.get("orders", "O5")["stops"] == []


def test_it_knows_what_was_written_looked_up_and_found(shop):
    database = shop.database.fresh()
    database.get("customers", "C1")
    database.where("products", size="large")
    database.update("products", "P1", stock=4)
    database.remove("orders", "O1")
    assert database.read == {("customers", "C1")}
    assert database.seen == {("products", "P2"), ("products", "P3")}
    assert database.written == {("products", "P1"), ("orders", "O1")}
    assert not database.fresh().written and database.copy().written == database.written


@pytest.mark.parametrize("method", ["get", "update", "remove"])
def test_a_record_that_is_not_there_is_the_callers_fault(shop, method):
    with pytest.raises(DomainError, match="there is no 'C9' in customers"):
        getattr(shop.database.fresh(), method)("customers", "C9")


def test_a_key_that_is_taken_is_the_callers_fault(shop):
    with pytest.raises(DomainError, match="orders O1 exists already"):
        shop.database.fresh().add("orders", shop.database.get("orders", "O1"))


def test_a_search_gives_records_in_the_order_of_their_keys(shop):
    database = shop.database.fresh()
    customer = database.get("customers", "C1")
    database.add("customers", {**customer, "customer_id": "C0", "email": "x@example.org"})
    assert [one["customer_id"] for one in database.where("customers")] == ["C0", "C1", "C2"]


def test_a_search_may_ask_anything_of_a_record_and_only_what_it_finds_was_seen(shop):
    database = shop.database.fresh()
    found = database.where("products", lambda product: product["stock"] < 5, size="small")
    assert [one["product_id"] for one in found] == ["P1"]
    assert database.seen == {("products", "P1")}
    assert database.count("products") == 3 and len(database.seen) == 1


def test_fields_may_be_called_as_the_arguments_of_its_methods_are():
    fields = {name: Field(kind="text") for name in ("key", "collection", "matching")}
    schema = Schema(collections={"things": Collection(key="key", fields=fields)})
    database = Database(schema, {})
    database.add("things", {"key": "a", "collection": "b", "matching": "c"})
    database.update("things", "a", collection="d", matching="e")
    assert database.where("things", collection="d", matching="e", key="a")


def test_what_was_done_elsewhere_is_taken_over_and_counted(shop):
    database = shop.database.copy()
    order = {"order_id": "O2", "customer": "C1", "items": [], "stops": []}
    changes = {("orders", "O1"): None, ("orders", "O2"): order, ("orders", "O3"): None}
    database.take_over(changes, read=[("customers", "C1")], seen=[("products", "P1")])
    assert database.records["orders"] == {"O2": order}
    assert database.written == changes.keys()
    assert (database.read, database.seen) == ({("customers", "C1")}, {("products", "P1")})
    assert shop.database.has("orders", "O1") and not shop.database.written
