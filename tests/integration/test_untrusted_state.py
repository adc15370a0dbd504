"""What malicious functions of an untrusted domain try on later calls, results and verdicts."""

from __future__ import annotations

import builtins
import json
from contextlib import suppress

import pytest
from tests.integration.hostile_domain import LIMIT_S, attempt, copy_hostile, result_of

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.task import Action
from toolorchestra.domain.untrusted.limits import limits_of
from toolorchestra.domain.untrusted.load import load_untrusted
from toolorchestra.domain.verify import verify

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def domain(tmp_path_factory):
    folder = copy_hostile(tmp_path_factory.mktemp("domains"))
    return load_untrusted(folder, limits=limits_of({"timeout_s": LIMIT_S, "max_parallel": 1}))


def reason(domain, code):
    with pytest.raises(DomainBug) as caught:
        attempt(domain, code)
    return str(caught.value)


_HALF = "a text holds half a character: a surrogate that stands alone"


def say(written="{}", result="1", read="{}"):
    """Code that answers by hand what no honest call would."""
    text = f'{{"result": {result}, "written": {written}, "read": {read}, "seen": {{}}}}'
    return f"import os; os.write(3, {text!r}.encode()); os._exit(0)"


def test_a_global_does_not_survive_a_call(domain):
    count = "own['NUM_CALLS'] += 1; result = own['NUM_CALLS']"
    assert [result_of(domain, count) for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("poison", "look", "clean"),
    [
        ("import builtins; builtins.len = lambda one: 7", "result = len([])", 0),
        ("import json; json.dumps = lambda *a, **k: '{}'", "result = [1]", [1]),
        ("import sys; sys.modules['math'] = None", "import math; result = math.floor(1.5)", 1),
        ("type(db).get = lambda *a: {}", "result = db.get('accounts', 'A2')['balance']", 5),
        ("import os; os.environ['A'] = 'b'", "import os; result = os.environ.get('A')", None),
        ("import os; os.chdir('/usr')", "import os; result = os.getcwd()", "/tmp"),
        ("import sys; sys.setrecursionlimit(99)", "import sys; result = sys.getrecursionlimit()",
         1000),
        ("db._records['accounts']['A2']['balance'] = 7",
         "result = db.get('accounts', 'A2')['balance']", 5),
        ("import threading, time\nthreading.Thread(target=lambda: time.sleep(9)).start()",
         "import threading; result = threading.active_count()", 1),
    ],
)  # fmt: skip
def test_what_a_call_poisons_is_clean_in_the_next(domain, poison, look, clean):
    with suppress(DomainBug):
        attempt(domain, poison)
    assert result_of(domain, look) == clean


def test_chance_is_the_same_in_every_call_and_in_every_sandbox(domain, tmp_path):
    other = load_untrusted(copy_hostile(tmp_path), has_tasks=False)
    draw = """
    import random
    result = [random.random(), random.randrange(10**9), list({str(n) for n in range(50)})]
    """
    assert result_of(domain, draw) == result_of(domain, draw) == result_of(other, draw)


def test_the_process_that_waits_cannot_be_reached_into(domain):
    read = "open(f'/proc/{os.getppid()}/mem', 'r+b')"
    assert "PermissionError" in reason(domain, f"import os; {read}")
    assert "PermissionError" in reason(domain, "import os; os.listdir(f'/proc/{os.getppid()}/fd')")


def test_a_call_that_changes_what_outlives_it_breaks_and_the_next_finds_it_as_it_was(domain):
    limit = "import os, resource as r\nresult = r.prlimit(os.getppid(), r.RLIMIT_NOFILE"
    before = result_of(domain, f"{limit})")
    assert reason(domain, f"{limit}, (16, 16))").endswith("it changed what outlives the call")
    assert result_of(domain, f"{limit})") == before


def test_no_descriptor_but_that_of_its_own_reply_is_open(domain):
    code = """
    import os
    result = []
    for number in range(2000):
        try:
            os.fstat(number)
            result.append(number)
        except OSError:
            pass
    """
    assert result_of(domain, code) == [0, 1, 2, 3]


def test_patches_inside_change_nothing_out_here(domain):
    theirs = (Database.update, json.dumps, builtins.open)
    forge = """
    import builtins, json
    from toolorchestra.domain.database import Database
    from toolorchestra.domain import check, function
    Database.update = lambda self, *a, **k: None
    check.written_problems = function.written_problems = lambda database: ()
    builtins.open = None
    db.update("accounts", "A1", balance=1_000_000)
    result = {"balance": 1_000_000}
    """
    after, result = attempt(domain, forge)
    assert result == {"balance": 1_000_000}
    assert after.records == domain.database.records
    assert (Database.update, json.dumps, builtins.open) == theirs


def test_a_forged_result_does_not_solve_a_task_whose_database_it_left_alone(domain):
    task = domain.tasks["pay"]
    forged = Action(name="attempt", arguments={"code": say(result='{"balance": 110}')})
    verdict = verify(domain, task, actions=[forged], messages=["It is 110 now."])
    assert [str(change) for change in verdict.changes] == [
        "changed accounts A1.balance: expected 110, got 100"
    ]
    assert verdict.unwritten == (("accounts", "A1"),)


def test_a_forged_write_counts_as_the_write_that_it_is(domain):
    record = '{"account_id": "A2", "owner": "Bob", "balance": 999}'
    forged = Action(
        name="attempt", arguments={"code": say(written=f'{{"accounts": {{"A2": {record}}}}}')}
    )
    verdict = verify(
        domain,
        domain.tasks["pay"],
        actions=[*domain.tasks["pay"].actions, forged],
        messages=["It is 110 now."],
    )
    assert [str(change) for change in verdict.changes] == [
        "changed accounts A2.balance: expected 5, got 999"
    ]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ('{"account_id": "A3", "owner": "Bob", "balance": 1}', "the key was changed to 'A3'"),
        ('{"account_id": "A1", "owner": "Bob", "balance": 1}', "'Bob' must be unique"),
        ('{"account_id": "A1", "owner": "Ann", "balance": "1"}', "expected a whole number"),
        ('{"account_id": "A1", "owner": "Ann", "balance": true}', "expected a whole number"),
        ('{"account_id": "A1", "owner": "Ann"}', "balance: is missing"),
        ('{"account_id": "A1", "owner": "Ann", "balance": 1, "admin": true}', "admin: is unknown"),
        ('{"account_id": "A1", "owner": "Ann", "balance": 1e999}', "expected a whole number"),
        ("[]", "wrote accounts A1, which is no record"),
    ],
)
def test_records_that_the_schema_forbids_are_found_out_here(domain, record, text):
    before = {key: dict(one) for key, one in domain.database.records["accounts"].items()}
    assert text in reason(domain, say(written=f'{{"accounts": {{"A1": {record}}}}}'))
    assert domain.database.records["accounts"] == before


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (say(written='{"thieves": {"T1": {}}}'), "it names 'thieves', which is no collection"),
        (say(read='{"accounts": ["A9"]}'), "it names 'A9', which is not in accounts"),
        (say(result="[" * 5000 + "]" * 5000), "it gave no JSON: is nested too deeply"),
        (say(result="[" * 100 + "]" * 100), "nested more than 32 deep"),
        (say(result="NaN"), "NaN is no JSON"),
        (say(result="1e999"), "Out of range float values are not JSON compliant"),
        (say(result="9" * 5000), "it gave no JSON: Exceeds the limit"),
        (say(result='"\\ud800"'), "half a character"),
        ("import os; os.write(3, b'\\xff'); os._exit(0)", "it gave no JSON"),
        ("import os; os._exit(0)", "it gave no JSON"),
        ("result = float('nan')", "ValueError: Out of range float values"),
        ("result = 10 ** 5000", "ValueError: Exceeds the limit"),
        ("result = []\nfor _ in range(100_000): result = [result]", "RecursionError"),
        ("result = object()", "TypeError: Object of type object is not JSON serializable"),
        ("db.update('accounts', 'A1', account_id='A7')", "the key was changed to 'A7'"),
        ("db.update('accounts', 'A1', balance=10**5000)", "ValueError: Exceeds the limit"),
        ("db.schema = type(db.schema)(collections=dict(db.schema.collections, more=db.schema."
         "collections['accounts']))", "attempt changed the schema"),
        ("db.schema.collections['accounts'].fields.clear()", "changed the schema"),
        ("db._records['thieves'] = {}; db.written.add(('thieves', 'T1'))", "attempt broke"),
        ("db.written.add('accounts')", "attempt broke"),
        ("db.remove('accounts', 'A1'); db.read.add(('accounts', 'A8'))", "'A8', which is not in"),
    ],
)  # fmt: skip
def test_answers_in_no_expected_form_break_the_call(domain, code, text):
    assert text in reason(domain, code)
    assert domain.database.schema.collections.keys() == {"accounts"}


def test_classes_do_not_come_out(domain):
    evil = """
    class Text(str):
        def __reduce__(self): return (print, ("unpickled",))
        def __eq__(self, other): return True
        __hash__ = str.__hash__
    class Table(dict):
        def items(self): return [("a", Text("b"))]
    result = [Text("x"), Table(c=Text("d"))]
    """
    result = result_of(domain, evil)
    assert type(result[0]) is str and type(result[1]) is dict
    assert result[0] == "x" and result[0] != "y"


def test_a_refusal_of_the_function_reaches_the_policy_as_ever(domain):
    environment = domain.begin(domain.tasks["pay"])
    refused = environment.call("pay", {"account_id": "A9", "amount": 1})
    assert (refused.is_ok, refused.content) == (False, "there is no 'A9' in accounts")
    half = environment.call("pay", {"account_id": "\ud800", "amount": 1})
    assert (half.is_ok, half.content) == (False, _HALF)
