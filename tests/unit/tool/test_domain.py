import asyncio
import time

import pytest
from tests.integration.hostile_domain import copy_hostile
from tests.unit.rollout.test_domain import episodes

from toolorchestra.domain.catalogue import Catalogue, Listed
from toolorchestra.domain.goal import Goal, as_task, goal_of
from toolorchestra.domain.untrusted.limits import limits_of
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.domain import Environments, domain_tools


def test_an_environment_lives_from_the_first_call_to_the_end_of_its_session():
    (episode,) = episodes(1, keep=lambda task: task.actions[-1].name == "cancel_hold")
    actions = goal_of(episode.task).task.actions
    tools = domain_tools(["library"], Environments())

    def call(session):
        for number, action in enumerate(actions):
            context = CallContext(episode=episode, call_id="c", call_number=number, session=session)
            result = asyncio.run(tools[action.name].call(dict(action.arguments), context))
        return result.status

    assert [call("a"), call("a"), call("b")] == ["ok", "policy_error", "ok"]
    asyncio.run(tools["get_rules"].close_session("a"))
    assert [call("a"), call("b")] == ["ok", "policy_error"]


@pytest.fixture
def bank(tmp_path):
    limits = limits_of({"timeout_s": 1.5})
    return Catalogue(folders={"bank": Listed(folder=str(copy_hostile(tmp_path)), limits=limits)})


@pytest.fixture
def call(bank, make_episode, make_tool):
    domain = bank.load("bank")
    tools = domain_tools(["bank"], Environments(), catalogue=bank)
    offered = tuple(make_tool(name=name) for name in domain.functions)
    task = as_task(Goal(domain=domain, task=domain.tasks["pay"]))
    episode = make_episode(task=task, tools=offered)

    async def make(name, arguments, session="a"):
        context = CallContext(episode=episode, call_id="c", call_number=0, session=session)
        return await tools[name].call(arguments, context)

    return make


@pytest.mark.sandbox
async def test_a_function_that_hangs_holds_up_nobody_else_and_voids_its_rollout(call):
    longest_s = 0.0

    async def look():
        nonlocal longest_s
        while True:
            before_s = time.monotonic()
            await asyncio.sleep(0.01)
            longest_s = max(longest_s, time.monotonic() - before_s)

    looking = asyncio.create_task(look())
    result = await call("attempt", {"code": "while True: pass"})
    looking.cancel()
    assert result.status == "provider_error"
    assert result.content == "error: attempt broke: it ran longer than 1.5 s"
    assert 0 < longest_s < 1.0


@pytest.mark.sandbox
async def test_calls_at_one_time_in_one_rollout_are_made_in_their_order(call):
    amounts = [1, 2, 3, 4, 5]
    calls = (call("pay", {"account_id": "A1", "amount": amount}) for amount in amounts)
    results = await asyncio.gather(*calls, call("pay", {"account_id": "A1", "amount": 9}, "b"))
    assert [result.content for result in results] == ["101", "103", "106", "110", "115", "109"]
    refused = await call("pay", {"account_id": "A7", "amount": 1})
    assert (refused.status, refused.content) == (
        "policy_error",
        "error: there is no 'A7' in accounts",
    )
