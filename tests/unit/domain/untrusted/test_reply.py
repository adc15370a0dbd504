import json

import pytest

from toolorchestra.domain.fault import DomainBug, DomainError
from toolorchestra.domain.untrusted.answer import call, make_database, tell
from toolorchestra.domain.untrusted.reply import BadReply, read_told, take_effect

_CUSTOMER = {"customer_id": "C1", "name": "Ann"}


@pytest.fixture
def database(shop):
    return shop.database.copy()


def reply(**parts):
    told = {"result": None, "written": {}, "read": {}, "seen": {}}
    return json.dumps(told | parts).encode()


def effect(database, **parts):
    return take_effect(reply(**parts), database, "f")


def test_an_effect_is_done_to_the_database(database):
    written = {"customers": {"C1": _CUSTOMER}, "orders": {"O1": None, "O7": {"order_id": "O7"}}}
    parts = {"written": written, "read": {"products": ["P1"]}, "seen": {"orders": ["O1", "O7"]}}
    assert effect(database, result={"a": [1, None]}, **parts) == {"a": [1, None]}
    assert database.records["customers"]["C1"] == _CUSTOMER
    assert set(database.records["orders"]) == {"O7"}
    assert database.written == {("customers", "C1"), ("orders", "O1"), ("orders", "O7")}
    assert database.read == {("products", "P1")}
    assert database.seen == {("orders", "O1"), ("orders", "O7")}


def test_a_record_that_was_added_and_taken_out_again_counts_as_written(database):
    effect(database, written={"orders": {"O8": None}}, read={"orders": ["O8"]})
    assert database.written == database.read == {("orders", "O8")}


@pytest.mark.parametrize(
    ("told", "error", "text"),
    [
        ({"refused": "no such thing"}, DomainError, "no such thing"),
        ({"bug": "f broke: KeyError: 'x'"}, DomainBug, "f broke: KeyError: 'x'"),
        ({"broken": "SystemExit: 3"}, DomainBug, "f broke: SystemExit: 3"),
    ],
)
def test_a_call_that_failed_says_why(database, told, error, text):
    with pytest.raises(error) as caught:
        take_effect(json.dumps(told).encode(), database, "f")
    assert str(caught.value) == text
    assert not database.written


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it gave no JSON: Expecting value"),
        (b"\xff{}", "it gave no JSON: .*utf-8"),
        (b"[" * 100_000, "it gave no JSON: is nested too deeply"),
        (reply(result=float("nan")), "it gave no JSON: NaN"),
        (b'{"refused": "a", "refused": "b"}', "stands twice"),
        (b'{"refused": "\\ud800"}', "half a character"),
        (b'{"result": ' + b"9" * 5000 + b"}", "it gave no JSON: .*digits"),
        (b"[]", "it gave JSON that is no reply"),
        (b'{"refused": 3}', "it gave no reply: it: key 'result' is missing"),
        (b"{}", "it gave no reply"),
        (reply(schema={}), "key 'schema' is unknown"),
        (reply(result=json.loads("[" * 40 + "]" * 40)), "nested more than 32 deep"),
        (reply(written=[]), "it.written: expected an object"),
        (reply(written={"customers": []}), "it.written.customers: expected an object"),
        (reply(written={"customers": {"C1": [1]}}), "wrote customers C1, which is no record"),
        (reply(written={"customers": {"C1": "x"}}), "wrote customers C1, which is no record"),
        (reply(written={"thieves": {"T1": {}}}), "it names 'thieves', which is no collection"),
        (reply(read={"thieves": ["T1"]}), "it names 'thieves', which is no collection"),
        (reply(read={"customers": "C1"}), "it.read.customers: expected a list"),
        (reply(read={"customers": [1]}), "expected a string"),
        (reply(seen={"customers": ["C1", "C9"]}), "it names 'C9', which is not in customers"),
    ],
)
def test_an_answer_in_no_expected_form_is_refused_and_changes_nothing(database, content, reason):
    before = {name: dict(records) for name, records in database.records.items()}
    with pytest.raises(BadReply, match=reason):
        take_effect(content, database, "f")
    assert database.records == before
    assert not database.written | database.read | database.seen


def told(*functions):
    return json.dumps({"functions": functions}).encode()


def function(**parts):
    one = {"name": "f", "description": "Does it.", "arguments": []}
    return one | parts


def argument(**parts):
    return {"name": "a", "annotation": "text", "description": "It.", "is_required": True} | parts


def test_functions_that_are_told_are_those_that_a_trusted_file_has(shop_copy):
    shop = shop_copy.load()
    module = __import__(f"{shop_copy.name}.functions", fromlist=["FUNCTIONS"])
    run = object()
    found = read_told(json.dumps(tell(module)).encode(), lambda name: run)
    assert [one.name for one in found] == list(shop.functions)
    for one in found:
        theirs = shop.functions[one.name]
        assert one.run is run
        assert (one.description, one.parameters) == (theirs.description, theirs.parameters)
        assert one.annotations == theirs.annotations


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (json.dumps({"broken": "NameError: x"}).encode(), "^NameError: x$"),
        (told(function(), function()), "it has two functions of one name"),
        (told(*(function(name=f"f{i}") for i in range(257))), "more than 256 functions"),
        (told(function(name="rm -rf")), "the name 'rm -rf' is not allowed"),
        (told(function(name="f" * 65)), "is not allowed"),
        (told(function(name="")), "the name '' is not allowed"),
        (told(function(description=None)), "expected a string"),
        (told(function(arguments=[argument(), argument()])), "an argument stands twice"),
        (told(function(arguments=[argument(name="a b")])), "the name 'a b' is not allowed"),
        (told(function(arguments=[argument(annotation="bytes")])), "f: 'bytes' is no annotation"),
        (told(function(arguments=[argument(is_required=1)])), "expected true or false"),
        (told(function(run="os.system")), "key 'run' is unknown"),
    ],
)
def test_functions_that_cannot_be_used_are_refused(content, reason):
    with pytest.raises(BadReply, match=reason):
        read_told(content, lambda name: print)


def test_a_call_answers_what_it_gave_and_did(shop_copy):
    shop = shop_copy.load()
    module = __import__(f"{shop_copy.name}.functions", fromlist=["FUNCTIONS"])
    schema = shop.database.schema
    arguments = {"customer_id": "C1", "amount": "2.50"}
    answer = call(module, "credit", arguments, shop.database.copy(), schema)
    after = shop.database.copy()
    shop.functions["credit"].run(after, **shop.functions["credit"].read_arguments(arguments))
    again = shop.database.copy()
    assert take_effect(json.dumps(answer).encode(), again, "credit") == answer["result"]
    assert (again.records, again.written, again.read) == (after.records, after.written, after.read)
    unknown = {"customer_id": "C9", "amount": "1"}
    refused = call(module, "credit", unknown, shop.database.copy(), schema)
    assert refused == {"refused": "there is no 'C9' in customers"}


def test_a_call_that_changed_the_schema_says_so(shop_copy):
    line = '    return db.get("customers", customer_id)\n'
    less = '{"customers": db.schema.collections["customers"]}'
    changing = f"    db.schema = type(db.schema)(collections={less})\n"
    shop_copy.replace("functions.py", line, changing + line)
    shop = shop_copy.load(has_tasks=False)
    module = __import__(f"{shop_copy.name}.functions", fromlist=["FUNCTIONS"])
    answer = call(
        module, "get_customer", {"customer_id": "C1"}, shop.database.copy(), shop.database.schema
    )
    assert answer == {"bug": "get_customer changed the schema"}


def test_a_database_is_made_of_what_files_hold(shop, shop_copy):
    schema = json.loads((shop_copy.folder / "schema.json").read_text())
    assert make_database(schema, shop.database.records).records == shop.database.records
