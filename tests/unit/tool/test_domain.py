import asyncio

from tests.unit.rollout.test_domain import episodes

from toolorchestra.domain.goal import goal_of
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
