"""Which models write and what they are told, as the user says it in `conf/descriptions.yaml` and
`conf/preferences.yaml`."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolorchestra.tool.expert_config import AnswerLimits


@dataclass(kw_only=True)
class AskedConfig:
    """A model that is asked, and what it is told."""

    model: str
    """By name in the pricing schedules."""
    system: str
    """Its instruction."""
    limits: AnswerLimits = field(default_factory=AnswerLimits)

    def check(self, key: str) -> None:
        """Raises ValueError, naming `key`, for what cannot be meant."""
        for name in ("model", "system"):
            if not getattr(self, name).strip():
                raise ValueError(f"{key}.{name}: an empty text is not allowed; use some words")
        self.limits.check(f"{key}.limits")


@dataclass(kw_only=True)
class WriterConfig(AskedConfig):
    """The model that describes another; not the one that is described."""

    max_words: int = 60
    """Longest description: a policy reads it in every episode."""
    max_reply_chars: int = 4000
    """How much of each reply it is shown: the beginning and the end."""

    def __post_init__(self) -> None:
        self.check("writer")
        for key in ("max_words", "max_reply_chars"):
            if getattr(self, key) < 10:
                raise ValueError(
                    f"writer.{key}: {getattr(self, key)} is not allowed; use a whole number from 10"
                )
