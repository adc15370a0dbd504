import pytest

from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.function import read_function
from toolorchestra.domain.task import Action
from toolorchestra.domain.verify import verify


def _act(name, **arguments):
    return Action(name=name, arguments=arguments)


_ORDER = _act("place_order", customer_id="C1", items=["P1", "P2"], stops=["Sarn", "Tolm"])
_CREDIT = _act("credit", customer_id="C1", amount="0.10")


def _verify(shop, task, *actions, messages=("Your balance is 10.10.",)):
    return verify(shop, shop.tasks[task], actions=actions, messages=messages)


def test_golden_actions_solve_and_doing_nothing_does_not(shop):
    for task in shop.tasks.values():
        messages = [f"Note: {text}." for text in task.communicate]
        assert verify(shop, task, actions=task.actions, messages=messages).is_solved
        assert not verify(shop, task, actions=(), messages=()).is_solved
        assert not verify(shop, task, actions=(), messages=[task.instruction]).is_solved


@pytest.mark.parametrize(
    "actions",
    [
        (_CREDIT, _ORDER),
        (_act("find_customers"), _ORDER, _act("get_customer", customer_id="C2"), _CREDIT),
        (_ORDER, _act("transfer_to_human"), _CREDIT),
        (_ORDER, _act("credit", customer_id="C9", amount="1"), _CREDIT),
        (_ORDER, _act("credit", customer_id="C1", amount="much"), _CREDIT),
        (_ORDER, _act("credit", customer_id="C1", amount=0.1)),
        (_ORDER, _act("credit", customer_id="C1", amount="1"), _CREDIT,
         _act("credit", customer_id="C1", amount="-1.00")),
        (_act("place_order", customer_id="C1", items=["P2", "P1"], stops=["Sarn", "Tolm"]),
         _CREDIT),
    ],
)  # fmt: skip
def test_another_way_to_the_same_end_solves(shop, actions):
    assert str(_verify(shop, "order", *actions)) == "solved"


@pytest.mark.parametrize(
    ("actions", "line"),
    [
        ((_ORDER,), 'changed customers C1.balance: expected "10.10", got "10.00"'),
        ((_ORDER, _CREDIT, _CREDIT), 'expected "10.10", got "10.20"'),
        ((_ORDER, _ORDER, _CREDIT), "added orders: "),
        ((_CREDIT,), "missing orders: "),
        (
            (
                _CREDIT,
                _act("place_order", customer_id="C1", items=["P1", "P2"], stops=["Tolm", "Sarn"]),
            ),
            '"stops":["Tolm","Sarn"]',
        ),
        ((_ORDER, _CREDIT, _act("set_tags", customer_id="C2", tags=["x"])), "C2.tags"),
    ],
)
def test_another_end_is_no_correct_execution_and_the_verdict_says_why(shop, actions, line):
    verdict = _verify(shop, "order", *actions)
    assert not verdict.is_execution_correct and not verdict.is_solved
    assert verdict.is_process_faithful
    assert str(verdict).startswith("not solved\ndatabase: ") and line in str(verdict)


@pytest.mark.parametrize(
    "messages", [(), ("Done.",), ("It is 10.1.1",), ("It is 110.10",), ("10.109",)]
)
def test_what_was_not_said_fails_fidelity_alone(shop, messages):
    verdict = _verify(shop, "order", _ORDER, _CREDIT, messages=messages)
    assert verdict.is_execution_correct and verdict.is_operation_complete
    assert verdict.unsaid == ("10.10",) and not verdict.is_solved
    assert "not said: 10.10" in str(verdict)


def test_a_write_that_changes_nothing_has_to_be_made(shop):
    verdict = _verify(shop, "tags")
    assert verdict.is_execution_correct and not verdict.is_operation_complete
    assert verdict.unwritten == (("customers", "C1"),)
    assert str(verdict) == "not solved\nnot written: customers C1"
    looked = _verify(shop, "tags", _act("get_customer", customer_id="C1"))
    assert not looked.is_solved
    assert _verify(shop, "tags", _act("set_tags", customer_id="C1", tags=["new", "kind"])).is_solved


def test_a_write_that_failed_was_not_made(shop):
    assert not _verify(shop, "tags", _act("set_tags", customer_id="C1", tags="new")).is_solved


def test_a_record_that_was_to_be_looked_up_may_be_found_in_another_way(shop):
    task = shop.tasks["stock"]
    looked_up = type(task)(
        id="look", instruction="i", difficulty=1, actions=(_act("get_customer", customer_id="C2"),)
    )
    assert not verify(shop, looked_up, actions=(), messages=()).is_operation_complete
    assert verify(shop, looked_up, actions=(), messages=()).unread == (("customers", "C2"),)
    for action in (_act("find_customers"), _act("set_tags", customer_id="C2", tags=[])):
        assert verify(shop, looked_up, actions=(action,), messages=()).is_solved


def test_initial_changes_are_where_both_sides_begin(shop):
    task = shop.tasks["blocked"]
    environment = shop.begin(task)
    assert environment.database.has("customers", "C3") and not environment.database.written
    assert not environment.database.has("products", "P3")
    assert not shop.database.has("customers", "C3")


def test_a_domain_that_breaks_gives_no_verdict(shop):
    def place_order(db) -> str:
        """Break."""
        raise RuntimeError("broken")

    functions = {**shop.functions, "broken": read_function(place_order)}
    broken = type(shop)(
        name="broken",
        database=shop.database,
        functions=functions,
        policy=shop.policy,
        tasks=shop.tasks,
    )
    with pytest.raises(DomainBug, match="place_order broke: RuntimeError: broken"):
        verify(broken, shop.tasks["order"], actions=(_act("broken"),), messages=())
