"""How descriptions are written, as the user says it in `conf/descriptions.yaml`."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolorchestra.tool.expert_config import AnswerLimits


@dataclass(kw_only=True)
class WriterConfig:
    """The model that writes, and what it is told."""

    model: str
    """By name in the pricing schedules; not the one that is described."""
    system: str
    """Its instruction."""
    max_words: int = 60
    """Longest description: a policy reads it in every episode."""
    max_reply_chars: int = 4000
    """How much of each reply it is shown: the beginning and the end."""
    limits: AnswerLimits = field(default_factory=AnswerLimits)

    def __post_init__(self) -> None:
        for key in ("model", "system"):
            if not getattr(self, key).strip():
                _refuse(key, "an empty text", "some words")
        for key in ("max_words", "max_reply_chars"):
            if getattr(self, key) < 10:
                _refuse(key, getattr(self, key), "a whole number from 10")
        self.limits.check("writer.limits")


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"writer.{key}: {value} is not allowed; use {allowed}")
