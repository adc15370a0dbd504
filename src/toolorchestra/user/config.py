"""Options of the `user` group."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from toolorchestra.tool.expert_config import AnswerLimits

KINDS = ("none", "scripted", "llm")

PLACES = ("{instruction}", "{scenario}", "{functions}")
"""What the system prompt of a model must hold, each once."""


@dataclass(kw_only=True)
class UserConfig:
    """Who answers the policy's messages in tasks of domains."""

    name: str = "none"
    kind: str = "none"
    """none: nobody; the task's instruction is all that the user says, and the first message that
    calls nothing answers it. scripted: the task's steps are played, offline and always alike. llm:
    a model plays the user."""
    patience: int = 3
    """Messages in a row that a scripted user puts up with when none says what it waits for; then it
    leaves."""
    model: str = ""
    """Who plays the user, by its name in the pricing and at the providers."""
    system: str = ""
    """What that model is told, with {instruction}, {scenario} and {functions} where they go."""
    limits: AnswerLimits = field(default_factory=AnswerLimits)
    """How long and how freely the model answers."""
    is_structured: bool = True
    """Whether its provider is asked for JSON of a schema; the replies are checked either way."""
    max_calls: int = 8
    """Calls of the user's own functions that it may make before it speaks."""
    max_chars: int = 4000
    """Longest message to the policy."""
    deadline_s: float = 180.0
    """How long one answer of the user may take, with all calls, repairs and attempts; beyond it the
    rollout is void."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            _refuse("kind", repr(self.kind), " or ".join(KINDS))
        for key, least in (("patience", 1), ("max_calls", 0), ("max_chars", 1)):
            if getattr(self, key) < least:
                _refuse(key, getattr(self, key), f"a whole number from {least}")
        if not (math.isfinite(self.deadline_s) and self.deadline_s > 0):
            _refuse("deadline_s", self.deadline_s, "seconds above 0")
        self.limits.check("user.limits")
        if self.kind == "llm":
            self._check_llm()

    def _check_llm(self) -> None:
        if not self.model.strip():
            _refuse("model", repr(self.model), "the name in the pricing of who plays the user")
        for place in PLACES:
            if self.system.count(place) != 1:
                _refuse("system", f"a prompt with {self.system.count(place)} {place}", "one")


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"user.{key}: {value} is not allowed; use {allowed}")
