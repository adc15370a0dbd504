"""Conversations to test: rollouts at the lockers, alone or on a stage."""

from dataclasses import replace

from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.rollout.stage import LIMITS, engine_of, speaker
from tests.unit.user.scene import (
    RELEASE,
    locker_episode,
    locker_tools,
)

from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.engine.golden import Golden
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.loop import run_rollout
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.domain import Environments
from toolorchestra.user.scripted import ScriptedUser

SLIP, PULL = "What does the slip say?", "It is released with the code 52: open it."
GOLDEN = (SLIP, RELEASE, PULL, "You are welcome.")
THINK = "<think>\nI wonder.\n</think>\n\n"


def speaking(template=None, *, is_thinking=False):
    renderer = Renderer(
        qwen_tokenizer(), template=template or builtin_template(), is_thinking=is_thinking
    )
    return replace(speaker(), renderer=renderer)


def scripted(environments, patience=3):
    return ScriptedUser(environments, patience=patience)


async def play(*texts, user=scripted, task="stuck", template=None, engine=None, **limits):
    """One rollout of these messages; `user` is made for the environments of the tools."""
    environments = Environments()
    made = user(environments)
    opening = await made.opened(locker_episode(task))
    return await run_rollout(
        opening.episode,
        0,
        engine=engine or engine_of(*texts),
        speaker=speaking(template),
        tools=locker_tools(environments),
        limits=replace(LIMITS, **limits),
        user=made,
    )


def staged(engine, episode, *, user=scripted, group_size=1, **options):
    environments = Environments()
    stage = Stage(
        tools=locker_tools(environments),
        speaker=speaking(),
        config=RolloutConfig(max_turns=8, max_concurrent=4, max_redispatch=0),
        max_new_tokens=2000,
        max_context=100_000,
        user=user(environments),
        **options,
    )
    try:
        played = stage.play(engine, [episode], group_size=group_size, is_greedy=True)[0]
        return played, stage.spending.spent_usd
    finally:
        stage.close()


def golden_engine():
    return ScriptedEngine(Golden(), qwen_tokenizer(), end_id=speaker().renderer.end_of_turn_id)


def read(rollout):
    return [qwen_tokenizer().decode(row.ids) for row in rollout.rows]
