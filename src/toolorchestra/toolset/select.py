"""Draws the subset of tools that one episode offers (paper, section 3.3).

A subset in which nothing can solve the task teaches nothing, so one able tool is always kept; where
the whole toolset has none, the selection says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from random import Random

from toolorchestra.tool.config import ToolConfig

ABLE = 0.5
"""A tool that is right at least this often counts as able."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The tools of one episode."""

    names: tuple[str, ...]
    """In random order, so that a tool's place tells nothing."""
    is_solvable: bool
    """Whether one of them can solve tasks of the episode's skill at all."""


def select(
    tools: Mapping[str, ToolConfig],
    *,
    skill: str,
    min_tools: int,
    max_tools: int,
    rng: Random,
    prices: Collection[str],
    needed: Collection[str] = (),
) -> Selection:
    """Draws `min_tools` to `max_tools` of the tools that have a price.

    Args:
        tools: The toolset's tools, by name.
        skill: What the episode's task takes.
        min_tools: Fewest tools; fewer only where fewer have a price.
        max_tools: Most tools.
        rng: The episode's generator.
        prices: Names of the tools that have a price in this episode.
        needed: Tools of which the episode must offer at least one; empty: it need not.

    Returns:
        A subset that holds an able tool, or the most able there is, unless no tool has any chance.
        An empty one where the toolset has no tools.

    Raises:
        ValueError: No tool has a price, or none of those needed has.
    """
    if not tools:
        return Selection(names=(), is_solvable=False)
    candidates = [name for name in tools if name in prices]
    if not candidates:
        raise ValueError("toolset.tools: none has a price; use a pricing that prices some of them")
    largest = min(max_tools, len(candidates))
    names = rng.sample(candidates, rng.randint(min(min_tools, largest), largest))
    able = _able(candidates, tools, skill)
    if able and not set(able) & set(names):
        names[rng.randrange(len(names))] = rng.choice(able)
    if needed and not set(needed) & set(names):
        _exchange(names, [name for name in candidates if name in needed], able, rng)
    return Selection(names=tuple(names), is_solvable=bool(able))


def _exchange(names: list[str], needed: list[str], able: list[str], rng: Random) -> None:
    """Puts one of the needed tools in the place of another, an able one last."""
    if not needed:
        raise ValueError(
            "toolset.fronts: none that answers has a tool with a price; use a pricing with one"
        )
    spare = [i for i, name in enumerate(names) if name not in able] or range(len(names))
    names[rng.choice(spare)] = rng.choice([name for name in needed if name in able] or needed)


def _able(names: list[str], tools: Mapping[str, ToolConfig], skill: str) -> list[str]:
    """The tools that solve `skill` at least half the time, else the best, else none."""
    chances = {name: tools[name].odds(skill).right for name in names}
    bar = min(ABLE, max(chances.values()))
    return [name for name, chance in chances.items() if chance >= bar] if bar > 0 else []
