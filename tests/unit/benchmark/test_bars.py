from random import Random

import pytest
from tests.unit.benchmark.worlds import make_episode, turn

from toolorchestra.chat.parse import parse_message
from toolorchestra.domain.goal import Goal, as_task, goal_of
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.domain.task import Action
from toolorchestra.domain.verify import verify
from toolorchestra.engine.golden import Golden
from toolorchestra.engine.policies import nothing

golden = Golden()


def played(policy, episode):
    """The calls that a policy makes, one a message, and its answer."""
    actions, turns = [], []
    while True:
        text = policy(episode, turns, Random(0))
        parsed = parse_message(text, finish_reason="stop", first_id=0)
        assert not parsed.errors
        if not parsed.calls:
            return actions, parsed.content
        (call,) = parsed.calls
        actions.append(Action(name=call.name, arguments=call.arguments))
        turns.append(turn(calls=parsed.calls))


def verdict(policy, goal):
    actions, said = played(policy, make_episode(task=as_task(goal)))
    return verify(goal.domain, goal.task, actions=actions, messages=[said])


@pytest.mark.parametrize("name", SHIPPED)
def test_golden_solves_every_task_that_needs_no_user_and_nothing_solves_none(name):
    domain = load_shipped(name)
    for task in domain.tasks.values():
        if task.needs_user:
            continue
        goal = Goal(domain=domain, task=task)
        assert verdict(golden, goal).is_solved, task.id
        assert not verdict(nothing, goal).is_solved, task.id


def test_golden_makes_its_calls_in_the_order_in_which_they_work():
    domain = load_shipped("library")
    task = max(domain.tasks.values(), key=lambda task: len(task.actions))
    actions, _ = played(golden, make_episode(task=as_task(Goal(domain=domain, task=task))))
    assert actions == list(task.actions) and len(actions) > 2


def test_golden_answers_even_where_nothing_has_to_be_said():
    domain = load_shipped("library")
    silent = next(task for task in domain.tasks.values() if not task.communicate)
    assert played(golden, make_episode(task=as_task(Goal(domain=domain, task=silent))))[1]


def test_golden_knows_the_answer_of_a_question_that_belongs_to_no_domain():
    episode = make_episode("math")
    assert goal_of(episode.task) is None
    assert played(golden, episode) == ([], "answer: 4")
    assert played(nothing, episode) == ([], "answer: nothing was done")
