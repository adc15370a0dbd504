"""Tasks that ship can be solved in a conversation with their scripted users."""

from dataclasses import replace
from random import Random

import pytest
from tests.invariant.records import rollout, turn
from tests.unit.rollout.stage import make_episode

from toolorchestra.chat.parse import parse_message
from toolorchestra.domain.goal import Goal, as_task
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.engine.golden import Golden
from toolorchestra.judge.domain import judge_domain
from toolorchestra.tool.domain import Environments
from toolorchestra.types import ToolResult
from toolorchestra.user.scripted import ScriptedUser

EVERY = 12
"""One task in so many is played: all of them take half a minute."""


@pytest.fixture(autouse=True)
def locker():
    """Here the domains are those that ship."""


async def converse(goal):
    """The golden policy and the scripted user, without tokens between them."""
    environments, policy = Environments(), Golden()
    user = ScriptedUser(environments, patience=1)
    episode = (await user.opened(replace(make_episode(), task=as_task(goal)))).episode
    turns, message = [], None
    while message is None or not message.is_last:
        assert len(turns) < 50
        text = policy(episode, turns, Random(0))
        parsed = parse_message(text, finish_reason="stop", first_id=len(turns))
        results = [
            ToolResult(call_id=call.id, name=call.name, content=outcome.content, status="ok")
            for call in parsed.calls
            for outcome in [environments.of("e", episode.task).call(call.name, call.arguments)]
        ]
        turns.append(turn(*results, text=text, calls=parsed.calls))
        if not parsed.calls:
            message = (await user.reply(episode, turns, session="e")).message
            turns[-1] = replace(turns[-1], user=message)
    return rollout(*turns, answer=parsed.content)


@pytest.mark.parametrize("name", SHIPPED)
async def test_golden_actions_and_cues_solve_what_ships(name):
    domain = load_shipped(name)
    for task in list(domain.tasks.values())[::EVERY]:
        goal = Goal(domain=domain, task=task)
        verdict = judge_domain(goal, await converse(goal))
        assert verdict.is_solved, f"{task.id}: {verdict.reason}"
