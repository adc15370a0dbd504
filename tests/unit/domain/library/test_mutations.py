"""Ten planted mutations of a correct rollout, each with the verdict that it deserves."""

import random

import pytest

from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.script import Script
from toolorchestra.domain.task import Action, DomainTask
from toolorchestra.domain.value import money, money_text
from toolorchestra.domain.verify import verify


@pytest.fixture(scope="module")
def library():
    return load_shipped("library")


def _find_holds(library, books):
    """A member who owes something and may wait for two books at R1, and these holds."""
    for key, member in library.database.records["members"].items():
        script = Script(library, random.Random(1))
        for book in books if money(member["owes"]) >= 5 else ():
            hold = {"member_id": key, "book_id": book, "branch_id": "R1"}
            if script.works("place_hold", **hold):
                script.do("place_hold", **hold)
            if len(script.actions) == 2:
                return key, [action.arguments for action in script.actions]
    raise AssertionError("no member may wait for two books")


@pytest.fixture(scope="module")
def task(library):
    """One member waits for two books, chooses interests and a reading list, and pays 1.25."""
    books = list(library.database.records["books"])
    key, holds = _find_holds(library, books)
    member = library.database.records["members"][key]
    script = Script(library, random.Random(1))
    for hold in holds:
        script.do("place_hold", **hold)
    script.do("set_interests", member_id=key, interests=["music", "chess", "poetry"])
    script.do("set_reading_list", member_id=key, book_ids=books[:3])
    rest = script.do("pay", member_id=key, amount="1.25")["owes"]
    assert rest == money_text(money(member["owes"]) - money("1.25"))
    return DomainTask(
        id="mutated",
        instruction="all of it",
        actions=tuple(script.actions),
        communicate=(rest,),
        difficulty=5,
    )


def _changed(task, name, **arguments):
    """The golden actions with other arguments for the function of that name."""
    actions = []
    for action in task.actions:
        changed = {**action.arguments, **(arguments if action.name == name else {})}
        actions.append(Action(name=action.name, arguments=changed))
    return actions


def _member(task):
    return task.actions[0].arguments["member_id"]


def _rest(task):
    return f"You owe {task.communicate[0]} now."


def _arguments(task, name):
    (arguments,) = [action.arguments for action in task.actions if action.name == name]
    return arguments


_MUTATIONS = {
    "nothing": (lambda t: t.actions, _rest, True),
    "an extra write": (
        lambda t: [
            *t.actions,
            Action(
                name="change_address",
                arguments={"member_id": _member(t), "street": "a", "town": "b"},
            ),
        ],
        _rest,
        False,
    ),
    "a wrong amount": (lambda t: _changed(t, "pay", amount="1.26"), _rest, False),
    "a missing message": (lambda t: t.actions, lambda t: "It is all done.", False),
    "a list without order reordered": (
        lambda t: _changed(t, "set_interests", interests=["chess", "poetry", "music"]),
        _rest,
        True,
    ),
    "a list with an order reordered": (
        lambda t: _changed(
            t,
            "set_reading_list",
            book_ids=_arguments(t, "set_reading_list")["book_ids"][::-1],
        ),
        _rest,
        False,
    ),
    "an extra read": (
        lambda t: [Action(name="search_books", arguments={"subject": "music"}), *t.actions],
        _rest,
        True,
    ),
    "a call that fails in between": (
        lambda t: [
            *t.actions[:2],
            Action(name="pay", arguments={"member_id": _member(t), "amount": "1000"}),
            *t.actions[2:],
        ],
        _rest,
        True,
    ),
    "a tool that does not exist": (
        lambda t: [*t.actions, Action(name="transfer_to_human", arguments={"why": "x"})],
        _rest,
        True,
    ),
    "the same writes in another order": (lambda t: t.actions[::-1], _rest, True),
    "a number inside another number": (
        lambda t: t.actions,
        lambda t: f"You owe 1{t.communicate[0]} or {t.communicate[0]}5.",
        False,
    ),
}


@pytest.mark.parametrize("mutation", _MUTATIONS)
def test_a_mutation_gets_the_verdict_that_it_deserves(library, task, mutation):
    make_actions, make_message, is_solved = _MUTATIONS[mutation]
    actions, messages = make_actions(task), [make_message(task)]
    verdict = verify(library, task, actions=actions, messages=messages)
    assert verdict.is_solved is is_solved, str(verdict)
    assert verdict.is_solved or "\n" in str(verdict)  # it says why
