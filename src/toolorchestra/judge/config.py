"""Options of the `judge` group."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from toolorchestra.dataset.answer_kind import ANSWER_KINDS

KINDS = ("match", "llm")

WHEN = ("wrong", "undecided", "never")
"""wrong: where the matcher says no, or cannot decide; undecided: only where it cannot decide."""

PLACES = ("{question}", "{gold}", "{answer}")
"""What a user prompt must hold, each once; `{mark}` stands for the mark of the fences."""


@dataclass(kw_only=True)
class JudgeSamplingConfig:
    """How the judge is to answer; null leaves a choice to its provider."""

    max_tokens: int | None = 4096
    """Longest reply, reasoning included; one that is cut decides nothing."""
    temperature: float | None = None
    """Not for reasoning models, which refuse it."""
    reasoning_effort: str | None = None
    is_structured: bool = True
    """Whether the provider is asked for JSON of a schema; a reply in words is read either way."""

    def __post_init__(self) -> None:
        tokens, heat = self.max_tokens, self.temperature
        if tokens is not None and tokens < 1:
            _refuse("sampling.max_tokens", tokens, "a whole number from 1, or null")
        if heat is not None and not (math.isfinite(heat) and heat >= 0):
            _refuse("sampling.temperature", heat, "a finite number from 0, or null")


@dataclass(kw_only=True)
class JudgeConfig:
    """Who decides whether a rollout's answer solves its task."""

    name: str = "match"
    kind: str = "match"
    """match: the matcher of the task's answer_kind alone; llm: then a model, as `asks` says."""
    model: str = ""
    """The judging model, by its name in the pricing and at the providers."""
    asks: dict[str, str] = field(default_factory=dict)
    """When the model is asked, by answer_kind: wrong, undecided or never. Kinds that are not named
    never ask it; an answer that the matcher finds right is right."""
    system: str = ""
    """The system prompt."""
    user: str = ""
    """The user prompt, with {question}, {gold} and {answer} where the fenced texts go."""
    max_words: int = 500
    """A longer answer that the matcher does not find right is wrong, without asking (as in the
    paper's code). 0: no limit."""
    sampling: JudgeSamplingConfig = field(default_factory=JudgeSamplingConfig)
    deadline_s: float = 180.0
    """How long one judgement may take with all attempts; beyond it the answer is unscored."""
    max_concurrent: int = 16
    """Judgements in flight at once."""
    cache: str | None = None
    """The file where judgements are kept for later runs; null: this run alone remembers them."""
    max_unscored_share: float = 0.1
    """The run stops where more than this share of the last `unscored_window` judgements gave no
    verdict: what the judge cannot decide is not missing at random. 1: never."""
    unscored_window: int = 50

    @property
    def judges_free_text(self) -> bool:
        """Whether a model judges texts that the matcher finds wrong: any long answer is one."""
        return self.kind == "llm" and self.asks.get("text") == "wrong"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            _refuse("kind", repr(self.kind), " or ".join(KINDS))
        for kind, when in self.asks.items():
            if kind not in ANSWER_KINDS:
                _refuse("asks", repr(kind), ", ".join(ANSWER_KINDS))
            if when not in WHEN:
                _refuse(f"asks.{kind}", repr(when), ", ".join(WHEN))
        for key, least in (("max_words", 0), ("max_concurrent", 1), ("unscored_window", 1)):
            if getattr(self, key) < least:
                _refuse(key, getattr(self, key), f"a whole number from {least}")
        if not (math.isfinite(self.deadline_s) and self.deadline_s > 0):
            _refuse("deadline_s", self.deadline_s, "seconds above 0")
        if not 0 <= self.max_unscored_share <= 1:
            _refuse("max_unscored_share", self.max_unscored_share, "a number from 0 to 1")
        if self.kind == "llm":
            self._check_llm()

    def _check_llm(self) -> None:
        if not self.model.strip():
            _refuse("model", repr(self.model), "the judging model's name in the pricing")
        if not set(self.asks.values()) - {"never"}:
            _refuse("asks", self.asks, "at least one answer_kind that asks, or judge=match")
        if not self.system.strip():
            _refuse("system", repr(self.system), "a prompt that says how to judge")
        for place in PLACES:
            if self.user.count(place) != 1:
                _refuse("user", f"a prompt with {self.user.count(place)} {place}", "exactly one")


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"judge.{key}: {value} is not allowed; use {allowed}")
