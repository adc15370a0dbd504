"""A provider's fault: never the policy's, so that it voids a rollout and never scores 0."""

from __future__ import annotations

from typing import Literal

from toolorchestra.types import Usage

FaultKind = Literal[
    "auth", "quota", "rate_limit", "not_found", "input", "filtered", "refused", "server", "timeout",
    "broken",
]  # fmt: skip
"""auth: no key, or a wrong one (401, 403); quota: nothing left to spend (402); rate_limit: too many
requests (429); not_found: no such model or address (404); input: what was asked is too long, which
is the caller's doing; filtered: it holds what the provider does not allow, the caller's doing too;
refused: the request is turned down for another reason (other 4xx); server: 5xx, or an error inside
a 200; timeout: no answer in time; broken: the connection ended, or what came back cannot be
read."""

OF_INPUT: frozenset[FaultKind] = frozenset({"input", "filtered"})
"""Kinds that are the caller's doing."""

LASTING: frozenset[FaultKind] = frozenset({"auth", "quota", "not_found"})
"""Kinds that only people can mend: no call to this provider will do better."""

RETRYABLE: frozenset[FaultKind] = frozenset({"rate_limit", "server", "timeout", "broken"})
"""Kinds that may go away by themselves."""


class ProviderFault(Exception):
    """What went wrong at a provider, once retries were of no use."""

    def __init__(
        self, message: str, *, kind: FaultKind, retry_after_s: float | None = None
    ) -> None:
        """Says what happened.

        Args:
            message: One sentence for people, without secrets.
            kind: What kind of fault it is.
            retry_after_s: How long the provider asks to be left alone.
        """
        super().__init__(message)
        self.kind: FaultKind = kind
        self.retry_after_s = retry_after_s
        self.usage = Usage()
        """What the attempts consumed, where somebody counted."""

    @property
    def is_retryable(self) -> bool:
        """Whether another attempt may do better."""
        return self.kind in RETRYABLE


class ProviderUnusable(ValueError):
    """A provider that no call will reach before people mend something: the run ends."""
