"""What is known of a world's tools but hidden from the policy: the odds of each."""

from __future__ import annotations

from collections.abc import Mapping

from toolorchestra.benchmark.oracle import Oracle, oracle_of
from toolorchestra.tool.config import SIMULATED_KINDS, ToolConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.types import Episode


class World:
    """A toolset seen by those who know its profiles."""

    def __init__(self, toolset: ToolsetConfig, *, horizon: int, has_domains: bool = False) -> None:
        """Takes a toolset; `has_domains` says that tasks of domains are played with it."""
        self._toolset, self._horizon, self.has_domains = toolset, horizon, has_domains
        self._oracles: dict[str, tuple[Episode, Oracle]] = {}

    @property
    def tools(self) -> Mapping[str, ToolConfig]:
        """All tools of the toolset, by name."""
        return self._toolset.tools

    @property
    def is_simulated(self) -> bool:
        """Whether a simulator answers for any tool: every table must then say so."""
        return any(map(self._toolset.is_simulated, self._toolset.tools))

    @property
    def is_known(self) -> bool:
        """Whether the odds of every tool are what they seem: nobody knows a real model's.

        Nor what a call of a domain's function is worth, which answers nothing by itself, nor what
        a policy without tools knows.
        """
        unknown = set(SIMULATED_KINDS)
        return (
            not self.has_domains
            and bool(self.tools)
            and all(
                self._toolset.is_simulated(name) or tool.kind not in unknown
                for name, tool in self._toolset.tools.items()
            )
        )

    def right(self, tool: str, skill: str) -> float:
        """Probability that a call of `tool` answers a task of `skill` rightly."""
        return self._toolset.tools[tool].odds(skill).right

    def ability(self) -> dict[str, float]:
        """Mean probability of a right answer over all skills that any tool has, by tool."""
        skills = sorted({skill for tool in self.tools.values() for skill in tool.profile})
        return {
            name: sum(tool.odds(skill).right for skill in skills) / max(len(skills), 1)
            for name, tool in self.tools.items()
        }

    def oracle(self, episode: Episode) -> Oracle:
        """The episode's oracle, made once."""
        made_for, oracle = self._oracles.get(episode.id, (None, None))
        if oracle is None or made_for != episode:  # another draw may have the same number
            skill = episode.task.skill
            odds = {tool.name: self.tools[tool.name].odds(skill) for tool in episode.tools}
            oracle = oracle_of(
                episode,
                {name: (odd.right, odd.abstain) for name, odd in odds.items()},
                simulated=frozenset(filter(self._toolset.is_simulated, odds)),
                horizon=self._horizon,
            )
            self._oracles[episode.id] = episode, oracle
        return oracle
