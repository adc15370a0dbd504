import os
import re
import shutil
import threading
from dataclasses import replace
from functools import partial

import pytest
from benchmarks.domain.one_file import copy_domain

from toolorchestra.domain.difference import digest
from toolorchestra.domain.fault import BadDomain, DomainBug
from toolorchestra.domain.function import call_function
from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.task import Action
from toolorchestra.domain.untrusted import load as loading
from toolorchestra.domain.untrusted.limits import LIMITS, limits_of
from toolorchestra.domain.untrusted.load import load_untrusted
from toolorchestra.domain.untrusted.worker import Worker
from toolorchestra.domain.verify import verify
from toolorchestra.sandbox.config import SandboxConfig

pytestmark = pytest.mark.sandbox


def refusal(folder, **options):
    with pytest.raises(BadDomain) as caught:
        load_untrusted(folder, **options)
    return str(caught.value)


def test_a_folder_is_the_same_domain_trusted_and_untrusted(shop_copy):
    trusted, untrusted = shop_copy.load(), load_untrusted(shop_copy.folder, name="shop")
    assert (untrusted.name, untrusted.policy) == ("shop", trusted.policy)
    assert untrusted.tasks == trusted.tasks
    assert (trusted.origin, untrusted.origin.folder) == (None, str(shop_copy.folder))
    for name, function in untrusted.functions.items():
        theirs = trusted.functions[name]
        assert (function.name, function.description) == (theirs.name, theirs.description)
        assert function.parameters == theirs.parameters
        assert function.annotations == theirs.annotations


_CALLS = [
    ("get_customer", {"customer_id": "C1"}),
    ("get_customer", {"customer_id": "C7"}),
    ("get_customer", {}),
    ("find_customers", {"is_active": False}),
    ("find_customers", {"is_active": None}),
    ("count_stock", {"size": "huge"}),
    ("place_order", {"customer_id": "C1", "items": ["P1", "P2"], "stops": ["Sarn", "Tolm"]}),
    ("place_order", {"customer_id": "C1", "items": ["P1", "P3"], "stops": []}),
    ("credit", {"customer_id": "C1", "amount": 0.1}),
    ("credit", {"customer_id": "C2", "amount": "-1628.00"}),
    ("set_tags", {"customer_id": "C2", "tags": ["Zoë", "a\u2028b"]}),
    ("steal", {}),
]


def test_a_chain_of_calls_gives_and_does_the_same(shop_copy):
    trusted, untrusted = shop_copy.load(), load_untrusted(shop_copy.folder)
    for task in trusted.tasks.values():
        theirs, ours = trusted.begin(task), untrusted.begin(task)
        for name, arguments in _CALLS:
            assert ours.call(name, arguments) == theirs.call(name, arguments)
        for counts in ("written", "read", "seen"):
            assert getattr(ours.database, counts) == getattr(theirs.database, counts)
        assert digest(ours.database) == digest(theirs.database)


_NUMBERS = (1, 40, 80, 120)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy") / "library"
    copy_domain("library", folder)
    lines = (folder / "tasks.jsonl").read_text().splitlines(keepends=True)
    (folder / "tasks.jsonl").write_text("".join(lines[number - 1] for number in _NUMBERS))
    return load_untrusted(folder)


@pytest.mark.parametrize("number", _NUMBERS)
def test_a_shipped_domain_gives_the_same_verdicts_untrusted(library, number):
    shipped = load_shipped("library")
    task = shipped.tasks[f"library-{number:03}"]
    said = ["; ".join(task.communicate)]
    address = {"member_id": "M001", "street": "x", "town": "y"}
    more = Action(name="change_address", arguments=address)
    rollouts = [task.actions, task.actions[:-1], (*task.actions, more), (more,), ()]
    verdicts = []
    for actions in rollouts:
        for messages in (said, []):
            ours, theirs = (
                verify(domain, task, actions=actions, messages=messages)
                for domain in (library, shipped)
            )
            assert ours == theirs
            verdicts.append(ours.is_solved)
    assert verdicts[0] is True and False in verdicts


def test_functions_of_the_user_may_import_those_of_the_policy(shop_copy):
    (shop_copy.folder / "user_functions.py").write_text(
        "from .functions import credit\n\n\n"
        "def find(db, amount: str) -> dict:\n"
        '    """Find money.\n\n    Args:\n        amount: How much.\n    """\n'
        '    return credit(db, "C1", __import__("decimal").Decimal(amount))\n\n\n'
        "FUNCTIONS = (find,)\n"
    )
    trusted, untrusted = shop_copy.load(), load_untrusted(shop_copy.folder)
    assert set(untrusted.user_functions) == {"find"}
    for domain in (trusted, untrusted):
        environment = domain.begin(domain.tasks["stock"])
        outcome = environment.call("find", {"amount": "0.05"}, by="user")
        assert outcome.content == '{"balance": "10.05"}'
        assert not environment.call("find", {"amount": "0.05"}).is_ok


@pytest.mark.parametrize(
    "file", ["schema.json", "database.jsonl", "policy.md", "tasks.jsonl", "functions.py"]
)
def test_a_missing_file_is_named(shop_copy, file):
    (shop_copy.folder / file).unlink()
    assert refusal(shop_copy.folder) == f"{file}: is missing"


def test_a_missing_folder_is_named(tmp_path):
    assert refusal(tmp_path / "nowhere") == "nowhere: there is no such folder"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("FUNCTIONS =", "TOOLS =", "module 'domain_code.functions' has no attribute 'FUNCTIONS'"),
        ("from decimal", "from decimall", "ModuleNotFoundError: No module named 'decimall'"),
        ("from decimal", "import numpy\nfrom decimal", "No module named 'numpy'"),
        ("from decimal", "import toolorchestra.tool\nfrom decimal", "'toolorchestra.tool'"),
        ("from decimal", "from toolorchestra.domain import load\nfrom decimal", "ImportError"),
        ("def credit(db: Database, ", "def credit(", "credit: its first argument must be db"),
        ("(get_customer, find", "(get_customer, get_customer, find", "the name is used twice"),
        ("from decimal", "def\nfrom decimal", "SyntaxError"),
        ("from decimal", "x = " + "(" * 5000 + "\nfrom decimal", "SyntaxError"),
        ("from decimal", "raise SystemExit\nfrom decimal", "SystemExit"),
        ("from decimal", "import os\nos._exit(0)\nfrom decimal", "it gave no JSON"),
        ("from decimal", "import os\nos.write(3, b'{}')\nos._exit(0)\nfrom decimal", "'functions'"),
        ("from decimal", "while True: pass\nfrom decimal", "it ran longer than 1 s"),
        ("from decimal", "x = 'x' * (1 << 30)\nfrom decimal", "MemoryError"),
        ("amount: Decimal", "amount: bytes", "amount: the annotation .* is not allowed"),
    ],
)
def test_functions_that_are_no_tools_are_refused_with_their_file(shop_copy, old, new, reason):
    shop_copy.replace("functions.py", old, new)
    message = refusal(shop_copy.folder, limits=limits_of({"timeout_s": 1.0}))
    assert message.startswith("functions.py: ")
    assert re.search(reason, message)


def test_a_file_that_the_user_cannot_use_is_named_as_such(shop_copy):
    (shop_copy.folder / "user_functions.py").write_text("FUNCTIONS = 3")
    assert refusal(shop_copy.folder).startswith("user_functions.py: TypeError")


def test_a_broken_golden_action_is_refused_with_its_line(shop_copy):
    shop_copy.replace("functions.py", "    balance = money(", "    balance = 1 / 0 * money(")
    assert refusal(shop_copy.folder) == (
        "tasks.jsonl, line 2: credit broke: ZeroDivisionError: division by zero"
    )


@pytest.mark.parametrize("file", ["schema.json", "database.jsonl", "tasks.jsonl"])
def test_json_that_is_nested_too_deeply_is_refused(shop_copy, file):
    (shop_copy.folder / file).write_text('{"collections": ' + "[" * 100_000)
    assert "is nested too deeply" in refusal(shop_copy.folder)


def test_a_schema_that_is_nested_too_deeply_is_refused(shop_copy):
    field = '{"kind": "text"}'
    for _ in range(900):
        field = f'{{"kind": "list", "of": {field}}}'
    old = '"customer_id": {"kind": "text"},'
    shop_copy.replace("schema.json", old, f'{old} "deep": {field},')
    assert "nested too deeply" in refusal(shop_copy.folder)


def test_a_link_to_a_secret_is_not_followed(shop_copy, tmp_path):
    (tmp_path / "secret").write_text("token")
    (shop_copy.folder / "policy.md").unlink()
    (shop_copy.folder / "policy.md").symlink_to(tmp_path / "secret")
    assert refusal(shop_copy.folder) == "policy.md: is a symbolic link"


def test_limits_that_no_task_could_name_are_refused(shop_copy):
    with pytest.raises(ValueError, match="limits: is not allowed; use what limits_of makes"):
        load_untrusted(shop_copy.folder, limits=SandboxConfig(python="/usr/bin/python3"))


def test_a_machine_without_a_sandbox_is_told_what_to_do(shop_copy, monkeypatch):
    loading._launch.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ValueError) as caught:
        load_untrusted(shop_copy.folder)
    assert not isinstance(caught.value, BadDomain)
    assert str(caught.value) == (
        "No sandbox for the functions of domains: bubblewrap is not installed; install the "
        "package bubblewrap; or, where a cluster runs containers but allows no user namespaces, "
        "set the option image to an image with Python for apptainer. To run programs unconfined "
        'all the same, set the option unsafe to "run_without_sandbox".'
    )


def test_the_unsafe_word_runs_it_without_a_sandbox_and_says_so(shop_copy, monkeypatch, caplog):
    loading._launch.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    options = {"unsafe": "run_without_sandbox"}
    domain = load_untrusted(shop_copy.folder, limits=limits_of(options))
    assert "Programs of the functions of domains run without a sandbox" in caplog.text
    assert domain.origin.options == options
    assert (
        domain.begin(domain.tasks["stock"]).call("count_stock", {"size": "large"}).content == "42"
    )


def test_a_worker_ends_with_its_domain(shop_copy):
    before = set(os.listdir("/proc/self/fd"))
    domain = load_untrusted(shop_copy.folder, has_tasks=False)
    (worker,) = domain.functions["credit"].run.func.__self__._workers._idle
    process = worker._held.process
    del domain, worker
    assert process.poll() is not None
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_worker_that_died_meanwhile_is_replaced(shop_copy):
    domain = load_untrusted(shop_copy.folder)
    of_all = domain.functions["credit"].run.func.__self__._workers
    (worker,) = of_all._idle
    worker._held.process.kill()
    worker._held.process.wait()
    domain.replay_golden(domain.tasks["order"])
    (other,) = of_all._idle
    assert other is not worker


def test_calls_from_many_threads_are_made_by_few_workers(shop_copy, monkeypatch):
    started = []
    monkeypatch.setattr(loading, "Worker", lambda *parts: started.append(1) or Worker(*parts))
    domain = load_untrusted(shop_copy.folder, has_tasks=False)
    credit, balances = domain.functions["credit"], []

    def call(cents):
        amount = {"customer_id": "C1", "amount": f"0.{cents:02}"}
        balances.append(call_function(domain.database, credit, amount)[1]["balance"])

    threads = [threading.Thread(target=call, args=(cents,)) for cents in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(balances) == [f"10.{cents:02}" for cents in range(20)]
    assert len(started) <= LIMITS.max_parallel


def test_a_fork_of_this_process_has_workers_of_its_own(shop_copy):
    domain = load_untrusted(shop_copy.folder)
    pid = os.fork()
    if pid == 0:  # a mistake must not go on with the tests
        try:
            found = domain.replay_golden(domain.tasks["order"]).database.records["orders"]
            os._exit(0 if "O2" in found else 1)
        finally:
            os._exit(2)
    for _ in range(5):
        domain.replay_golden(domain.tasks["order"])
    assert os.waitpid(pid, 0)[1] == 0
    domain.replay_golden(domain.tasks["order"])


def test_a_call_whose_sandbox_does_not_start_says_so(shop_copy):
    domain = load_untrusted(shop_copy.folder)
    of_all = domain.functions["credit"].run.func.__self__._workers
    of_all._idle.pop().end()
    launch, *others = of_all._make.args
    of_all._make = partial(Worker, replace(launch, bwrap="/bin/false"), *others)
    with pytest.raises(DomainBug, match="credit broke: got no sandbox"):
        domain.replay_golden(domain.tasks["blocked"])
