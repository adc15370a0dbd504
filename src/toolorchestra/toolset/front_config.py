"""Functions that stand before a toolset's tools, as the original ToolOrchestra has them.

Their one argument, `model`, is an alias; here is written which tool each alias stands for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from toolorchestra.tool.config import ToolConfig, check_tool_name

GIVES = ("document", "code", "answer")


@dataclass(kw_only=True)
class AliasConfig:
    """A tool behind an alias, and how much of what an episode has gathered it is shown."""

    tool: str
    max_document_chars: int | None = None
    """Of each document, from its start; null: all."""
    max_work_tokens: int = 40_000
    """Of programs, outputs and earlier answers, the newest kept, in tokens of the policy."""
    max_context_tokens: int = 120_000
    """Of problem, documents and work together, the newest kept, in tokens of the policy."""


@dataclass(kw_only=True)
class FrontConfig:
    """One function, for the kinds of work that its aliases do alike."""

    description: str
    """What the policy is told of it."""
    argument: str
    """What the policy is told of `model`, before the aliases."""
    gives: str
    """What a result is: a document, the output of code, or the answer that ends the episode."""
    aliases: dict[str, AliasConfig]


def check_fronts(fronts: Mapping[str, FrontConfig], tools: Mapping[str, ToolConfig]) -> None:
    """Checks the fronts of a toolset.

    Raises:
        ValueError: A front or alias is wrong, none of them answers, or a tool is of no use: behind
            no front, and used by no other tool.
    """
    aliases = [alias for front in fronts.values() for alias in front.aliases]
    for name, front in fronts.items():
        check_tool_name(name)
        if front.gives not in GIVES:
            _refuse(f"{name}.gives", repr(front.gives), ", ".join(GIVES))
        if not front.aliases:
            _refuse(f"{name}.aliases", "none", "at least one alias")
        for alias, options in front.aliases.items():
            _check_alias(f"{name}.aliases.{alias}", options, tools)
            if aliases.count(alias) > 1:
                _refuse(f"{name}.aliases", repr(alias), "an alias that no other front has")
    if not any(front.gives == "answer" for front in fronts.values()):
        _refuse("", "no front that gives the answer", "at least one with gives: answer")
    in_use = {a.tool for front in fronts.values() for a in front.aliases.values()}
    in_use |= {tool.uses for tool in tools.values()}
    for tool in tools:
        if tool not in in_use:
            _refuse("", f"a tool without an alias, {tool},", "an alias for it, or leave it out")


def _check_alias(key: str, options: AliasConfig, tools: Collection[str]) -> None:
    if options.tool not in tools:
        _refuse(f"{key}.tool", repr(options.tool), f"a tool of the toolset: {', '.join(tools)}")
    for limit in ("max_document_chars", "max_work_tokens", "max_context_tokens"):
        value = getattr(options, limit)
        if value is not None and value < 1:
            _refuse(f"{key}.{limit}", value, "a whole number from 1")


def _refuse(key: str, value: object, allowed: str) -> None:
    where = f"toolset.fronts.{key}" if key else "toolset.fronts"
    raise ValueError(f"{where}: {value} is not allowed; use {allowed}")
