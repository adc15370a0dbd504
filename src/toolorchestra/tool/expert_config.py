"""What real experts are told, as the user writes it in `conf/expert/`."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolorchestra.tool.config import ROLES


@dataclass(kw_only=True)
class AnswerLimits:
    """How long and how freely a model answers; none leaves a choice to the provider."""

    max_tokens: int | None = None
    """Longest reply, reasoning included."""
    temperature: float | None = None
    """None for reasoning models, which refuse it."""
    reasoning_effort: str | None = None

    def check(self, key: str) -> None:
        """Raises ValueError, naming `key`, for what cannot be meant."""
        if self.max_tokens is not None and self.max_tokens < 1:
            _refuse(f"{key}.max_tokens", self.max_tokens, "a whole number from 1, or null")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            _refuse(f"{key}.temperature", self.temperature, "a number from 0 to 2, or null")


@dataclass(kw_only=True)
class RoleConfig:
    """What a model of one role is asked for."""

    system: str
    """Its instruction; what it sees of the task follows as a message of its own."""
    limits: AnswerLimits = field(default_factory=AnswerLimits)


@dataclass(kw_only=True)
class ExpertConfig:
    """The prompts of all roles."""

    name: str
    roles: dict[str, RoleConfig] = field(default_factory=dict)
    """By `tool.role`."""
    models: dict[str, AnswerLimits] = field(default_factory=dict)
    """By name in the pricing schedules: models that are asked otherwise than their role says."""
    max_reply_chars: int = 8000
    """Longest text that the policy is shown of a reply."""
    max_history_chars: int = 16000
    """Longest account of earlier results that an expert is shown; its latest part is kept."""

    def __post_init__(self) -> None:
        if missing := [role for role in ROLES if role not in self.roles]:
            _refuse("expert.roles", f"no {missing[0]}", f"a prompt for each of {', '.join(ROLES)}")
        if unknown := [role for role in self.roles if role not in ROLES]:
            _refuse("expert.roles", repr(unknown[0]), ", ".join(ROLES))
        for role, options in self.roles.items():
            if not options.system.strip():
                _refuse(f"expert.roles.{role}.system", "an empty text", "an instruction")
            options.limits.check(f"expert.roles.{role}.limits")
        for model, limits in self.models.items():
            limits.check(f"expert.models.{model}")
        for key in ("max_reply_chars", "max_history_chars"):
            if getattr(self, key) < 1:
                _refuse(f"expert.{key}", getattr(self, key), "a whole number from 1")

    def limits_of(self, *, role: str, model: str) -> AnswerLimits:
        """How a model answers in a role."""
        return self.models.get(model, self.roles[role].limits)


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"{key}: {value} is not allowed; use {allowed}")
