"""What a tool is, as the user writes it in `conf/tool/<name>.yaml`.

One schema serves every kind: whatever a tool does, the policy is told what it is good at, what a
call costs and how long it takes, and those three come from here and from the pricing.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from toolorchestra.pricing.config import CHARACTERS_PER_TOKEN

KINDS = ("llm", "web_search", "local_search", "code_interpreter", "function", "mcp")

ROLES = ("answer", "math", "query", "code")

CARRIED_OUT_BY = {"query": ("web_search", "local_search"), "code": ("code_interpreter",)}
"""By role, the kinds of tools that can carry out what a model of it writes."""

SIMULATED_KINDS = ("llm", "web_search")
"""The kinds that need a key: `toolset.experts: simulated` puts a simulator in their place."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_tool_name(name: str) -> None:
    """Raises ValueError where OpenAI's function format would refuse `name`."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"tool: the name {name!r} is not allowed; use 1 to 64 letters, digits, '_' or '-'"
        )


@dataclass(kw_only=True)
class Odds:
    """How a call with default arguments ends for tasks of one skill; wrong is what remains."""

    right: float = 0.0
    """Probability of the right answer."""
    abstain: float = 0.0
    """Probability of saying that it does not know."""

    def __post_init__(self) -> None:
        for key, value in (("right", self.right), ("abstain", self.abstain)):
            if not 0 <= value <= 1:
                raise ValueError(
                    f"tool.profile.{key}: {value} is not allowed; use a number from 0 to 1"
                )
        if self.right + self.abstain > 1 + 1e-9:
            raise ValueError(
                f"tool.profile: right {self.right} + abstain {self.abstain} is not allowed; "
                "use a sum of at most 1"
            )


@dataclass(kw_only=True)
class ToolConfig:
    """One callable thing: a function, a search, an interpreter or a model (paper, section 2.1)."""

    kind: str
    """llm, web_search, local_search, code_interpreter or function; mcp: see `toolset.mcp`."""
    role: str = "answer"
    """What a model is asked for (paper, Appendix D): an answer, mathematics, a search query or
    code. Only for the kind llm."""
    uses: str = ""
    """The tool of the same toolset that carries out what a model of the role query or code writes:
    a search, or the interpreter. A real model's call is charged for both."""
    description: str
    """A few words for the policy; ratings by skill are added from `profile`."""
    priced_as: str
    """Model or service whose row of the pricing schedule is charged."""
    also_priced_as: list[str] = field(default_factory=list)
    """More rows that every call is charged by, e.g. the search behind a model that words one."""
    latency_s: float
    """Service time of a typical call, in seconds."""
    overhead_tokens: int = 0
    """Input of a typical call beyond the question, in tokens."""
    output_tokens: int = 0
    """Output of a typical call, reasoning included, in tokens."""
    compute_s: float = 0.0
    """Billed run time of a typical call, in seconds."""
    profile: dict[str, Odds] = field(default_factory=dict)
    """Odds by skill; where a skill is absent, the tool always abstains."""
    options: dict[str, Any] = field(default_factory=dict)
    """The kind's own options, checked by the kind."""
    parameters: dict[str, Any] | None = None
    """JSON schema of the arguments, for the kind mcp alone: others have one of their own."""

    def __post_init__(self) -> None:
        self._check_words()
        for key in ("latency_s", "overhead_tokens", "output_tokens", "compute_s"):
            value = getattr(self, key)
            if not (math.isfinite(value) and value >= 0):
                self._refuse(key, value, "a finite number from 0 up")

    def _check_words(self) -> None:
        if self.kind not in KINDS:
            self._refuse("kind", self.kind, ", ".join(KINDS))
        if self.role not in ROLES:
            self._refuse("role", self.role, ", ".join(ROLES))
        if self.role != "answer" and self.kind != "llm":
            self._refuse(
                "role", self.role, f"answer, as only the kind llm has roles, not {self.kind}"
            )
        if (self.role in CARRIED_OUT_BY) != bool(self.uses):
            needs = "the name of a tool for the roles query and code, and nothing for others"
            self._refuse("uses", self.uses, needs)
        if (self.parameters is None) == (self.kind == "mcp"):
            self._refuse(
                "parameters", self.parameters, "a schema with the kind mcp, and only there"
            )
        if not self.description.strip():
            self._refuse("description", self.description, "a few words")
        if not self.priced_as.strip():
            self._refuse("priced_as", self.priced_as, "the name of a price in the schedules")
        if len(set(self.charged_as)) < len(self.charged_as) or "" in self.also_priced_as:
            self._refuse(
                "also_priced_as", self.also_priced_as, "names of other prices, each of them once"
            )
        for skill in self.profile:
            if not skill.strip():
                self._refuse("profile", skill, "skill names that are not empty")

    def _refuse(self, key: str, value: object, allowed: str) -> None:
        raise ValueError(
            f"tool.{key}: {value!r} is not allowed for the tool described as "
            f"{self.description!r}; use {allowed}"
        )

    @property
    def charged_as(self) -> tuple[str, ...]:
        """All rows of the pricing schedule that a call is charged by."""
        return (self.priced_as, *self.also_priced_as)

    def odds(self, skill: str) -> Odds:
        """How a call with default arguments ends for tasks of `skill`."""
        return self.profile.get(skill, Odds(right=0.0, abstain=1.0))

    def typical_input_tokens(self, question: str) -> int:
        """Input tokens of a typical call that asks `question`: four characters count as one."""
        return math.ceil(len(question) / CHARACTERS_PER_TOKEN) + self.overhead_tokens
