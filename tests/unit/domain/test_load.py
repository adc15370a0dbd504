import json

import pytest

from toolorchestra.domain.fault import BadDomain
from toolorchestra.domain.load import load_folder, load_package, load_shipped

_ORDER = (
    '{"collection": "orders", "record": '
    '{"order_id": "O9", "customer": "%s", "items": [], "stops": []}}'
)


def _refusal(shop_copy):
    with pytest.raises(BadDomain) as caught:
        shop_copy.load()
    return str(caught.value)


def test_a_whole_folder_is_loaded(shop):
    assert set(shop.tasks) == {"stock", "order", "tags", "blocked"}
    assert set(shop.functions) >= {"get_customer", "place_order"}
    assert len(shop.database.records["customers"]) == 2
    assert shop.policy.startswith("# Shop")


@pytest.mark.parametrize(
    "file", ["schema.json", "database.jsonl", "policy.md", "tasks.jsonl", "functions.py"]
)
def test_a_missing_file_is_named(shop_copy, file):
    (shop_copy.folder / file).unlink()
    assert _refusal(shop_copy) == f"{file}: is missing"


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(BadDomain, match="nowhere: there is no such folder"):
        load_folder(tmp_path / "nowhere", functions={})


@pytest.mark.parametrize(
    ("package", "reason"),
    [("no_such_domain", "No module named"), ("colorsys", "is a module, not a package")],
)
def test_what_is_no_package_is_refused(package, reason):
    with pytest.raises(BadDomain, match=f"{package}: {reason}"):
        load_package(package)


def test_records_may_lie_in_one_file_for_each_collection(shop_copy, shop):
    lines = (shop_copy.folder / "database.jsonl").read_text().splitlines()
    (shop_copy.folder / "database").mkdir()
    for line in filter(None, lines):
        collection = line.split('"')[3]
        record = line[line.index('"record": ') + len('"record": ') : -1]
        shop_copy.append(f"database/{collection}.jsonl", record)
    (shop_copy.folder / "database.jsonl").unlink()
    assert shop_copy.load().database.records == shop.database.records
    shop_copy.append("database/customer.jsonl", "{}")
    assert "database/customer.jsonl: is no collection's file" in _refusal(shop_copy)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ("[1]", 'expected an object of "collection" and "record"'),
        ('{"collection": "order", "record": {}}', "no collection 'order'; use customers"),
        ('{"collection": "orders", "record": {}}', "orders.order_id: expected a key; got None"),
        ('{"collection": "orders", "record": 3}', "expected a key"),
        ('{"collection": "orders", "record": {"order_id": NaN}}', "NaN is no JSON"),
        ('{"collection": "orders", "collection": "x"}', "'collection' stands twice"),
        (_ORDER.replace("O9", "O1") % "C1", "orders O1 stands already at database.jsonl, line 7"),
        (_ORDER % "C7", "orders O9.customer: refers to 'C7', which is not in customers"),
    ],
)
def test_a_wrong_record_is_refused_with_its_line(shop_copy, line, reason):
    shop_copy.append("database.jsonl", line)
    message = _refusal(shop_copy)
    assert message.startswith("database.jsonl, line 8: ") and reason in message


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"P1", "size"', '"P2", "size"', "line 5: products P2 stands already"),
        ('"bob@example.org"', '"ann@example.org"', "'ann@example.org' must be unique"),
        ('["P1"]', '["P1", "P8"]', "line 7: orders O1.items[1]: refers to 'P8'"),
    ],
)
def test_keys_unique_values_and_references_are_checked(shop_copy, old, new, reason):
    shop_copy.replace("database.jsonl", old, new)
    assert reason in _refusal(shop_copy)


_TASK = '{"id": "%s", "instruction": "i", "difficulty": 1, "communicate": ["5"], "actions": [%s]}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (_TASK % ("stock", ""), "the id 'stock' stands already at tasks.jsonl, line 1"),
        (_TASK % ("t", '{"name": "fly"}'), "task t: there is no function 'fly'"),
        (
            _TASK % ("t", '{"name": "get_customer", "arguments": {"customer_id": "C9"}}'),
            "task t: golden action 1, get_customer, fails: there is no 'C9' in customers",
        ),
        (
            _TASK % ("t", '{"name": "get_customer", "arguments": {"customer": "C1"}}'),
            "customer: is no argument of get_customer; it takes customer_id",
        ),
        (
            _TASK
            % (
                "t",
                '{"name": "place_order", "arguments": '
                '{"customer_id": "C8", "items": [], "stops": []}}',
            ),
            "place_order left a record that the schema forbids: orders O2.customer: refers to 'C8'",
        ),
        ('{"id": "t", "instruction": "i", "difficulty": 1}', "doing nothing would solve it"),
        ('{"id": "t", "instruction": " ", "difficulty": 1}', "needs an id and an instruction"),
        ('{"id": "t", "instruction": "i", "communicate": ["5"]}', "'difficulty' is missing"),
        (
            '{"id": "t", "instruction": "i", "communicate": ["5"], "difficulty": 0}',
            "difficulty 0 is not allowed",
        ),
        (
            '{"id": "t", "instruction": "i", "communicate": ["?"], "difficulty": 1}',
            "communicate '?' says nothing",
        ),
        ('{"id": "t", "goal": "g"}', "is missing"),
        ('["t"]', "expected an object"),
    ],
)
def test_a_wrong_task_is_refused_with_its_line(shop_copy, line, reason):
    shop_copy.append("tasks.jsonl", line)
    message = _refusal(shop_copy)
    assert message.startswith("tasks.jsonl, line 5: ") and reason in message


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('{"collection": "shops", "key": "x"}', "there is no collection 'shops'"),
        ('{"collection": "orders", "key": "x", "is_removed": true}', "no 'x' in orders"),
        (
            '{"collection": "products", "key": "P1", "fields": {"stock": "many"}}',
            "products P1.stock: expected a whole number; got 'many'",
        ),
        (
            '{"collection": "products", "key": "P1", "is_removed": true}',
            "orders O1.items[0]: refers to 'P1', which is not in products",
        ),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(shop_copy, change, reason):
    task = _TASK % ("t", "")
    shop_copy.append("tasks.jsonl", task[:-1] + f', "changes": [{change}]}}')
    assert reason in _refusal(shop_copy)


def test_a_file_without_tasks_is_refused_unless_tasks_are_still_to_be_made(shop_copy):
    (shop_copy.folder / "tasks.jsonl").write_text("\n")
    assert _refusal(shop_copy) == "tasks.jsonl: holds no task"
    assert shop_copy.load(has_tasks=False).tasks == {}


def test_an_empty_policy_is_refused(shop_copy):
    (shop_copy.folder / "policy.md").write_text("\n")
    assert _refusal(shop_copy) == "policy.md: is empty"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("FUNCTIONS =", "TOOLS =", "FUNCTIONS"),
        ("from decimal", "from decimall", "decimall"),
        ("def credit(db: Database, ", "def credit(", "credit: its first argument must be db"),
        ("(get_customer, find", "(get_customer, get_customer, find", "the name is used twice"),
    ],
)
def test_functions_that_are_no_tools_are_refused(shop_copy, old, new, reason):
    shop_copy.replace("functions.py", old, new)
    message = _refusal(shop_copy)
    assert message.startswith("functions.py: ") and reason in message


def test_a_schema_that_is_wrong_is_refused_with_its_file(shop_copy):
    shop_copy.replace("schema.json", '"to": "products"', '"to": "goods"')
    assert "schema.json: schema: orders.items[] refers to 'goods'" in _refusal(shop_copy)


def test_an_unknown_shipped_domain_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="'bakery' is not allowed; use library, clinic, courier"):
        load_shipped("bakery")


_ANN = {"customer_id": "C1"}


def _call(name, by="user", **arguments):
    return {"name": name, "arguments": {**_ANN, **arguments}, "by": by}


_LOOK, _TAKE, _GET = _call("look"), _call("take"), _call("get_customer", by="policy")


def _scripted(actions, *steps):
    task = {"id": "t", "instruction": "i", "difficulty": 1, "actions": actions, "steps": steps}
    return json.dumps(task)


def test_steps_that_go_through_the_golden_actions_are_loaded(market):
    steps = (
        {"say": "What do I have?", "actions": [_LOOK]},
        {"say": "Please go on."},
        {"say": "I have {result}.", "cues": ["take", "basket"], "actions": [_TAKE, _LOOK]},
    )
    market.append("tasks.jsonl", _scripted([_LOOK, _GET, _TAKE, _LOOK, _GET], *steps))
    task = market.load().tasks["t"]
    assert [len(step.actions) for step in task.steps] == [1, 0, 2]
    assert task.steps[2].cues == ("take", "basket")


def test_a_task_whose_user_acts_may_have_no_script(market):
    market.append("tasks.jsonl", _scripted([_LOOK, _GET]))
    assert market.load().tasks["t"].steps == ()


@pytest.mark.parametrize(
    ("actions", "steps", "reason"),
    [
        ([_GET], [{"say": " "}], "step 1: it says nothing"),
        ([_GET], [{"say": "a", "cues": ["b"]}], "step 1: cues are not allowed, for it begins"),
        ([_GET], [{"say": "{result}"}], "step 1: {result} is not allowed without an action"),
        (
            [_GET],
            [{"say": "a"}, {"say": "b", "actions": [_LOOK]}],
            "step 2: the user calls look where the golden actions have nothing",
        ),
        (
            [_LOOK, _GET, _TAKE],
            [{"say": "a"}, {"say": "b", "actions": [_LOOK, _TAKE]}],
            "step 2: the user calls take where the golden actions have get_customer of the policy",
        ),
        (
            [_GET, _LOOK],
            [{"say": "a", "actions": [_LOOK]}],
            "step 1: the user calls look where the golden actions have get_customer of the policy",
        ),
        (
            [_TAKE, _LOOK],
            [{"say": "a"}, {"say": "b", "actions": [_LOOK]}],
            "step 2: the user calls look where the golden actions have take of the user",
        ),
        (
            [_LOOK],
            [{"say": "a"}, {"say": "b", "actions": [_call("look", customer_id="C2")]}],
            "step 2: the user calls look where the golden actions have look of the user",
        ),
        (
            [_GET, _LOOK],
            [{"say": "a"}],
            "steps: the golden action look of the user is in none",
        ),
        ([_GET], [{"say": "a", "actions": [_GET]}], "step 1: 'get_customer' is no function of"),
        ([_GET], [{"say": "a", "actions": [_call("fly")]}], "step 1: the user calls fly where"),
        ([_call("look", by="policy")], [], "task t: there is no function 'look' of the policy"),
        ([_call("get_customer")], [], "task t: there is no function 'get_customer' of the user"),
        (
            [_call("look", customer_id="C9")],
            [],
            "golden action 1, look, fails: there is no 'C9' in customers",
        ),
        ([_GET], [{"cues": []}], "'say' is missing"),
    ],
)
def test_steps_that_no_conversation_can_go_through_are_refused_with_their_line(
    market, actions, steps, reason
):
    market.append("tasks.jsonl", _scripted(actions, *steps))
    message = _refusal(market)
    assert message.startswith("tasks.jsonl, line 5: ") and reason in message, message
