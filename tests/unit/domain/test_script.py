import random

import pytest

from toolorchestra.domain.script import Script, make_task
from toolorchestra.domain.task import Action, UserStep


@pytest.fixture
def domain(market):
    return market.load()


def _credit(script, user):
    """A goal of the policy alone."""
    script.do("credit", customer_id=user, amount="5")
    script.ask("Credit me 5.")
    return True


def _basket(script, user):
    """A goal for which the user has to look."""
    script.ask("Tag me with what is in my basket.")
    script.know("Your basket stands before you.")
    fruit = script.user_does("look", customer_id=user)
    script.answer("There are {result}.", "basket", "look")
    script.do("set_tags", customer_id=user, tags=[fruit])
    script.hear("tagged", "twice", "tagged")
    return True


def _make(domain, *templates):
    return make_task(
        domain,
        task_id="t",
        templates=templates,
        difficulty=2,
        user="C1",
        greeting="I am Ann.",
        scenario="You are Ann.",
        rng=random.Random(1),
    )


def test_each_goal_and_each_answer_is_a_step_and_the_greeting_goes_with_the_first(domain):
    task = _make(domain, _credit, _basket)
    look = Action(name="look", arguments={"customer_id": "C1"}, by="user")
    assert task.steps == (
        UserStep(say="I am Ann. Credit me 5."),
        UserStep(say="Tag me with what is in my basket."),
        UserStep(say="There are {result}.", cues=("basket", "look"), actions=(look,)),
    )
    assert task.instruction == "I am Ann. Credit me 5. Tag me with what is in my basket."
    assert task.scenario == "You are Ann. Your basket stands before you."
    assert [(one.name, one.by) for one in task.actions] == [
        ("credit", "policy"), ("look", "user"), ("set_tags", "policy"),
    ]  # fmt: skip
    assert task.actions[2].arguments["tags"] == ["pears of ann@example.org"]
    assert task.communicate == ("tagged", "twice")


def test_what_the_user_answers_may_not_give_away_what_it_has_to_be_told(domain):
    def ask_pears(script, user):
        script.hear("pears of ann@example.org")
        return _basket(script, user)

    assert _make(domain, ask_pears) is None


def test_what_a_user_did_goes_with_an_answer_and_with_no_new_goal(domain):
    script = Script(domain, random.Random(1))
    script.user_does("look", customer_id="C1")
    with pytest.raises(AssertionError, match="belongs to an answer"):
        script.ask("And now?")


def test_a_golden_action_that_fails_or_is_not_the_partys_is_named(domain):
    script = Script(domain, random.Random(1))
    with pytest.raises(AssertionError, match="there is no tool 'look'"):
        script.do("look", customer_id="C1")
    with pytest.raises(AssertionError, match="there is no tool 'credit'"):
        script.user_does("credit", customer_id="C1", amount="5")
    with pytest.raises(AssertionError, match="there is no 'C9' in customers"):
        script.user_does("look", customer_id="C9")
    assert script.actions == []
