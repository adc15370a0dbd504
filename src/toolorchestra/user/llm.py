"""The user that a model plays: it may call the user's own functions, and then speaks.

Whatever goes wrong with the model voids the rollout: it is never the policy's fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import TypeVar

from toolorchestra.domain.goal import AnyGoal, goal_of
from toolorchestra.provider.base import ChatModel
from toolorchestra.provider.cassette import calling
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.tool.domain import Environments
from toolorchestra.types import Episode, Price, ToolCall, ToolResult, Turn, UserMessage
from toolorchestra.user.act import act, call_id, fault_in, first_call_number
from toolorchestra.user.asking import Asking
from toolorchestra.user.config import UserConfig
from toolorchestra.user.nobody import SILENCE
from toolorchestra.user.opening import opened
from toolorchestra.user.prompt import called, messages_of, opening_messages
from toolorchestra.user.protocol import Opening, UserReply
from toolorchestra.user.reply import Unreadable

T = TypeVar("T")


class LlmUser:
    """Asks a model what the user does and says; see `User`."""

    def __init__(
        self, config: UserConfig, *, model: ChatModel, price: Price, environments: Environments
    ) -> None:
        """Asks nobody yet.

        Args:
            config: Of kind "llm".
            model: Plays the user; whoever made it closes it.
            price: Of the model's tokens.
            environments: The databases of the rollouts under way.
        """
        self._config, self._model, self._price = config, model, price
        self._environments = environments

    async def opened(self, episode: Episode) -> Opening:
        """The episode with what the user says first as its question.

        A model is asked for that only where tasks have no words for it: once for all rollouts of a
        group, which begin alike.
        """
        goal = goal_of(episode.task)
        if goal is None or not goal.domain.greeting:
            return Opening(episode=opened(episode))
        asking = Asking(self._config, model=self._model, price=self._price, turn=0)
        messages = opening_messages(self._config.system, goal)
        said, fault = await self._heard(
            f"{episode.id}/user/opening", asking.ask(messages, max_calls=0)
        )
        if said is not None and not said.text:
            fault = "its reply cannot be used: it says nothing to begin with"
        task = replace(episode.task, question=said.text) if said is not None else episode.task
        return Opening(episode=replace(episode, task=task), bills=tuple(asking.bills), fault=fault)

    async def reply(self, episode: Episode, turns: Sequence[Turn], *, session: str) -> UserReply:
        """Has the model call what it needs, and speak; see `User`."""
        goal = goal_of(episode.task)
        if goal is None:
            return SILENCE
        number = len(turns) - 1
        asking = Asking(self._config, model=self._model, price=self._price, turn=number)
        message, fault = await self._heard(
            f"{session}/user/{number}", self._play(goal, episode, turns, session, asking)
        )
        if message is not None:
            fault = fault_in(message.results)
        return UserReply(message=message, bills=tuple(asking.bills), fault=fault)

    async def _heard(self, caller: str, work: Awaitable[T]) -> tuple[T | None, str]:
        """What comes of asking the model, or why nothing does."""
        limit_s = self._config.deadline_s
        try:
            with calling(caller):
                async with asyncio.timeout(limit_s) as deadline:
                    return await work, ""
        except ProviderFault as error:
            return None, f"{error.kind}: {error}"
        except Unreadable as error:
            return None, f"its reply cannot be used: {error}"
        except TimeoutError:
            if not deadline.expired():
                raise
            return None, f"no reply within {limit_s:g} s"

    async def _play(
        self, goal: AnyGoal, episode: Episode, turns: Sequence[Turn], session: str, asking: Asking
    ) -> UserMessage:
        """Calls by turns with what they gave, until it speaks: calls are bounded, so are turns."""
        messages = messages_of(self._config.system, goal, episode.task.question, turns)
        first, calls, results = first_call_number(turns), list[ToolCall](), list[ToolResult]()
        while not fault_in(results):
            left = self._config.max_calls - len(calls)
            said = await asking.ask(messages, max_calls=left)
            if not said.calls:
                return UserMessage(
                    text=said.text,
                    calls=tuple(calls),
                    results=tuple(results),
                    is_last=said.is_done or any(t in said.text for t in goal.domain.stop_tokens),
                )
            asked = [
                ToolCall(id=call_id(number), name=call.name, arguments=call.arguments)
                for number, call in enumerate(said.calls, start=first + len(calls))
            ]
            gave = await act(asked, self._environments, session=session, task=episode.task)
            calls, results = [*calls, *asked], [*results, *gave]
            messages += called(asked, gave)
        return UserMessage(text="", calls=tuple(calls), results=tuple(results))
