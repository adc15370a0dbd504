"""What the policy's messages are billed: counted in ids here, or as an API's provider reports."""

from __future__ import annotations

from toolorchestra.engine.base import Completion
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.types import Episode, LedgerEntry, Usage


class PolicyBill:
    """The policy's part of one rollout's ledger."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._last_prompt: tuple[int, ...] = ()
        self.num_held = 0
        """Tokens of an API's conversation, as counted by its provider; 0 where ids are counted."""
        self.num_prompt = 0
        """Tokens that the last message was an answer to."""

    def entry(self, turn: int, prompt_ids: tuple[int, ...], completion: Completion) -> LedgerEntry:
        """The entry of one message."""
        reply = completion.reply
        if reply is None:
            return self._priced(turn, self._counted(prompt_ids, len(completion.ids)), 0.0)
        answered = reply.attempts[-1].usage if reply.attempts else Usage()
        self.num_prompt = answered.input_tokens
        spoken = answered.output_tokens - answered.reasoning_tokens  # thoughts are not read again
        self.num_held = answered.input_tokens + spoken
        return self._priced(turn, reply.usage, reply.latency_s)

    def lost(self, turn: int, usage: Usage) -> tuple[LedgerEntry, ...]:
        """The entry of requests that no message came of; none where there were none."""
        return (self._priced(turn, usage, 0.0),) if usage.num_requests else ()

    def _counted(self, prompt_ids: tuple[int, ...], num_sampled: int) -> Usage:
        cached = _num_shared(self._last_prompt, prompt_ids)
        self._last_prompt, self.num_prompt = prompt_ids, len(prompt_ids)
        return Usage(
            input_tokens=len(prompt_ids), output_tokens=num_sampled, cached_input_tokens=cached
        )

    def _priced(self, turn: int, usage: Usage, latency_s: float) -> LedgerEntry:
        return LedgerEntry(
            kind="policy",
            name="policy",
            priced_as=self._episode.policy_priced_as,
            usage=usage,
            cost_usd=cost_usd(usage, self._episode.policy_price),
            latency_s=latency_s,
            turn=turn,
        )


def _num_shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Ids that two prompts begin with alike: those of the first, where the second goes on with it.

    A prompt that was rebuilt shares its head alone.
    """
    if other[: len(one)] == one:
        return len(one)
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (left, right) in pairs if left != right), len(other))
