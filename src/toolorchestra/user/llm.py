"""The user that a model plays: it may call the user's own functions, and then speaks.

Whatever goes wrong with the model voids the rollout: it is never the policy's fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from toolorchestra.domain.goal import Goal, goal_of
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
from toolorchestra.user.prompt import called, messages_of
from toolorchestra.user.protocol import UserReply
from toolorchestra.user.reply import Unreadable


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

    def opened(self, episode: Episode) -> Episode:
        """The episode with what the user says first as its question.

        No model is asked for that: all rollouts of a group begin alike.
        """
        return opened(episode)

    async def reply(self, episode: Episode, turns: Sequence[Turn], *, session: str) -> UserReply:
        """Has the model call what it needs, and speak; see `User`."""
        goal = goal_of(episode.task)
        if goal is None:
            return SILENCE
        number, limit_s = len(turns) - 1, self._config.deadline_s
        asking = Asking(self._config, model=self._model, price=self._price, turn=number)
        message, fault = None, ""
        try:
            with calling(f"{session}/user/{number}"):
                async with asyncio.timeout(limit_s) as deadline:
                    message = await self._play(goal, episode, turns, session, asking)
        except ProviderFault as error:
            fault = f"{error.kind}: {error}"
        except Unreadable as error:
            fault = f"its reply cannot be used: {error}"
        except TimeoutError:
            if not deadline.expired():
                raise
            fault = f"no reply within {limit_s:g} s"
        else:
            fault = fault_in(message.results)
        return UserReply(message=message, bills=tuple(asking.bills), fault=fault)

    async def _play(
        self, goal: Goal, episode: Episode, turns: Sequence[Turn], session: str, asking: Asking
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
                    is_last=said.is_done,
                )
            asked = [
                ToolCall(id=call_id(number), name=call.name, arguments=call.arguments)
                for number, call in enumerate(said.calls, start=first + len(calls))
            ]
            gave = await act(asked, self._environments, session=session, task=episode.task)
            calls, results = [*calls, *asked], [*results, *gave]
            messages += called(asked, gave)
        return UserMessage(text="", calls=tuple(calls), results=tuple(results))
