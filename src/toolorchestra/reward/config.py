"""The options of the reward: the rule that combines the terms, and whose weights it uses."""

from __future__ import annotations

from dataclasses import dataclass, field

RULES = ("paper", "gdpo")
PREFERENCES = ("episode", "fixed")
TOOL_USES = ("count", "once")


@dataclass(kw_only=True)
class TermWeights:
    """One weight in [0, 1] for each term of the reward."""

    outcome: float = 1.0
    """Whether the task is solved."""
    cost: float = 1.0
    """Dollars for the policy's tokens and every tool call; less is better."""
    latency: float = 1.0
    """Seconds of tool service; less is better."""
    tools: float = 1.0
    """How often each tool is called."""

    def __post_init__(self) -> None:
        """Checks the ranges.

        Raises:
            ValueError: A weight lies outside [0, 1].
        """
        for key in ("outcome", "cost", "latency", "tools"):
            value = getattr(self, key)
            if not 0 <= value <= 1:
                raise ValueError(
                    f"reward.weights.{key}: {value} is not allowed; use a number from 0 to 1"
                )


@dataclass(kw_only=True)
class RewardConfig:
    """Schema of the group `reward`."""

    name: str = "paper"
    """For tables and run names."""
    rule: str = "paper"
    """`paper`: min-max within the group, times P, 0 if unsolved (Eq. 2); `gdpo`: every term of that
    sum is brought to mean 0 and standard deviation 1 within the group before it is weighted."""
    preference: str = "episode"
    """Whose P: `episode` multiplies each episode's own P by the weights; `fixed` ignores it and
    takes the weights themselves as P, which then says nothing of single tools."""
    tool_use: str = "count"
    """What of a favoured tool earns: `count`, every call (Eq. 2); `once`, only the first."""
    weights: TermWeights = field(default_factory=TermWeights)
    """Multipliers of P, or P itself, see `preference`. The paper's rule is 1 throughout."""

    def __post_init__(self) -> None:
        """Checks the choices.

        Raises:
            ValueError: An unknown rule or preference, or a fixed P with a weight for tools.
        """
        if self.rule not in RULES:
            raise ValueError(
                f"reward.rule: {self.rule!r} is not allowed; use one of {', '.join(RULES)}"
            )
        if self.preference not in PREFERENCES:
            raise ValueError(
                f"reward.preference: {self.preference!r} is not allowed; "
                f"use one of {', '.join(PREFERENCES)}"
            )
        if self.tool_use not in TOOL_USES:
            raise ValueError(
                f"reward.tool_use: {self.tool_use!r} is not allowed; "
                f"use one of {', '.join(TOOL_USES)}"
            )
        if self.preference == "fixed" and self.weights.tools != 0:
            raise ValueError(
                f"reward.weights.tools: {self.weights.tools} is not allowed; "
                "use 0 with reward.preference=fixed"
            )
