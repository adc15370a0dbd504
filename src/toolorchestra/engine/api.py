"""Samples the policy's messages from a model behind an OpenAI-compatible API, with native calls.

The loop, its limits, tools and rewards are those of any policy. Usage is the provider's report, and
latency the service time of the request that was answered. A provider's fault voids the rollout; a
conversation that is too long for the model, or that its filter turns down, is the policy's end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolorchestra.chat.messages import tool_schemas
from toolorchestra.engine.base import Completion, EngineFault, Request
from toolorchestra.engine.native import messages_of
from toolorchestra.model.config import ApiConfig
from toolorchestra.provider.base import ChatModel, Reply, Sampling
from toolorchestra.provider.cassette import calling
from toolorchestra.provider.fault import OF_INPUT, ProviderFault
from toolorchestra.types import FinishReason


class ApiEngine:
    """One model as the policy; see `toolorchestra.engine.base.Engine`."""

    def __init__(
        self,
        model: ChatModel,
        config: ApiConfig,
        *,
        system_prompt: str,
        tool_style: str,
        deadline_s: float,
    ) -> None:
        """Sends nothing yet.

        Args:
            model: Who answers; whoever made it closes it.
            config: How it is asked.
            system_prompt: First message of every conversation.
            tool_style: How tools are shown.
            deadline_s: How long a message may take with all its attempts.
        """
        self.version = 0
        self._model, self._config, self._deadline_s = model, config, deadline_s
        self._system_prompt, self._tool_style = system_prompt, tool_style

    @asynccontextmanager
    async def rollout(self, session: str) -> AsyncIterator[None]:
        """Holds nothing."""
        yield

    async def generate(self, request: Request) -> Completion:
        """Asks for one message; see `Engine`.

        Raises:
            EngineFault: The provider failed; its `usage` says what the attempts used up.
            ProviderUnusable: So it did many times in a row, for reasons that people must mend.
        """
        messages = messages_of(
            request.episode,
            request.turns,
            system_prompt=self._system_prompt,
            sends_reasoning=self._config.sends_reasoning,
        )
        try:
            with calling(f"{request.session}/policy/{len(request.turns)}"):
                reply = await self._model.complete(
                    messages, sampling=self._sampling(request), deadline_s=self._deadline_s
                )
        except ProviderFault as fault:
            return _turned_down(fault)
        finish: FinishReason = "length" if reply.is_cut else "stop"
        return _completion(reply, "content_filter" if reply.is_filtered else finish)

    async def close(self) -> None:
        """Holds nothing; connections are the providers'."""

    def _sampling(self, request: Request) -> Sampling:
        temperature = self._config.temperature
        is_greedy = temperature is not None and request.temperature == 0
        return Sampling(
            max_tokens=request.max_tokens,
            temperature=0.0 if is_greedy else temperature,
            reasoning_effort=self._config.reasoning_effort,
            tools=tuple(tool_schemas(request.episode.tools, style=self._tool_style)),
            parallel_calls=self._config.parallel_calls,
        )


def _turned_down(fault: ProviderFault) -> Completion:
    """The end of a conversation that the provider does not take; any other fault is raised."""
    if fault.kind not in OF_INPUT:
        raise EngineFault(f"{fault.kind}: {fault}", usage=fault.usage) from fault
    empty = Reply(
        text="", reasoning="", is_cut=False, usage=fault.usage, latency_s=0.0, attempts=()
    )
    if fault.kind == "filtered":
        return _completion(empty, "content_filter")
    return _completion(empty, "length", is_context_full=True)


def _completion(
    reply: Reply, finish_reason: FinishReason, *, is_context_full: bool = False
) -> Completion:
    return Completion(
        ids=(),
        logprobs=(),
        finish_reason=finish_reason,
        version=0,
        reply=reply,
        is_context_full=is_context_full,
    )
