"""Which models write and what they are told, as the user says it in `conf/descriptions.yaml`,
`conf/preferences.yaml` and `conf/domain.yaml`."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolorchestra.tool.expert_config import AnswerLimits


@dataclass(kw_only=True)
class AskedModel:
    """A model that is asked."""

    model: str
    """By name in the pricing schedules."""
    limits: AnswerLimits = field(default_factory=AnswerLimits)

    def check(self, key: str) -> None:
        """Raises ValueError, naming `key`, for what cannot be meant."""
        refuse_empty(f"{key}.model", self.model)
        self.limits.check(f"{key}.limits")


@dataclass(kw_only=True)
class AskedConfig(AskedModel):
    """A model that is asked, and what it is told."""

    system: str
    """Its instruction."""

    def check(self, key: str) -> None:
        """Raises ValueError, naming `key`, for what cannot be meant."""
        super().check(key)
        refuse_empty(f"{key}.system", self.system)


def refuse_empty(key: str, text: str) -> None:
    """Raises ValueError where there is no word in a text."""
    if not text.strip():
        raise ValueError(f"{key}: an empty text is not allowed; use some words")


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
