"""Asks a model for one answer of the user, and keeps the bills."""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.pricing.cost import cost_usd
from toolorchestra.provider.base import ChatModel, Message, Sampling
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.tool.expert_prompt import without_thoughts
from toolorchestra.types import LedgerEntry, Price, Usage
from toolorchestra.user.config import UserConfig
from toolorchestra.user.prompt import SCHEMA
from toolorchestra.user.reply import Said, Unreadable, read_reply

NUM_REPAIRS = 2
"""How often the model may mend a reply."""
MEND = "That cannot be used: {fault}. Reply again, with one JSON object."


class Asking:
    """The requests for one answer of the user."""

    def __init__(self, config: UserConfig, *, model: ChatModel, price: Price, turn: int) -> None:
        """Asks nobody yet.

        Args:
            config: Of kind "llm".
            model: Plays the user.
            price: Of the model's tokens.
            turn: That the bills are written down for.
        """
        self.bills: list[LedgerEntry] = []
        self._config, self._model, self._price, self._turn = config, model, price, turn
        limits = config.limits
        self._sampling = Sampling(
            max_tokens=limits.max_tokens,
            temperature=limits.temperature,
            reasoning_effort=limits.reasoning_effort,
            json_schema=SCHEMA if config.is_structured else None,
        )

    async def ask(self, messages: Sequence[Message], *, max_calls: int) -> Said:
        """What the model says in the user's name; what cannot be used, it may mend.

        Raises:
            ProviderFault: It could not be asked.
            Unreadable: It mended nothing.
        """
        for left in reversed(range(NUM_REPAIRS + 1)):
            text, is_cut = await self._complete(messages)
            try:
                if is_cut:
                    raise Unreadable("it was cut, as it was too long")
                read = without_thoughts(text)
                return read_reply(read, max_calls=max_calls, max_chars=self._config.max_chars)
            except Unreadable as error:
                if not left:
                    raise
                mend = Message(role="user", content=MEND.format(fault=error))
                messages = [*messages, Message(role="assistant", content=text), mend]
        raise AssertionError("the last reply is read or refused")

    async def _complete(self, messages: Sequence[Message]) -> tuple[str, bool]:
        try:
            reply = await self._model.complete(
                messages, sampling=self._sampling, deadline_s=self._config.deadline_s
            )
        except ProviderFault as fault:
            if fault.usage != Usage():  # what failed may have been paid for too
                self._bill(fault.usage, latency_s=0.0)
            raise
        self._bill(reply.usage, latency_s=reply.latency_s)
        return reply.text, reply.is_cut

    def _bill(self, usage: Usage, *, latency_s: float) -> None:
        self.bills.append(
            LedgerEntry(
                kind="user",
                name=self._config.model,
                priced_as=(self._config.model,),
                usage=usage,
                cost_usd=cost_usd(usage, self._price),
                latency_s=latency_s,
                turn=self._turn,
            )
        )
