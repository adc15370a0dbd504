"""A table of pairs: which of them are admitted to it, and which fit an episode.

A dislike has no negative weight, as every entry of P is in [0, 1] (paper, section 3.2): it is a
weight on the tools that can be called instead, while what is disliked weighs nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolorchestra.preference.config import TABLE_KINDS
from toolorchestra.preference.traits import ToolTraits
from toolorchestra.preference.vector import check_vector
from toolorchestra.types import Preference

Split = Literal["train", "eval"]

_NO_LINE = ("Cc", "Cs", "Zl", "Zp")
"""Unicode's control characters, halves of surrogate pairs, and ends of lines and paragraphs."""

SPLITS: tuple[Split, ...] = ("train", "eval")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A line of a table: an instruction with its vector, and the side that may see it."""

    split: Split
    preference: Preference


def normalised(instruction: str) -> str:
    """An instruction without case, punctuation, spaces and forms of letters."""
    plain = unicodedata.normalize("NFKC", instruction).casefold()
    return re.sub(r"[\W_]+", "", plain)


class Admission:
    """Says of pair after pair whether it is a good one, and new."""

    def __init__(self, tools: Collection[str]) -> None:
        """Takes the names of the tools that a vector may weigh."""
        self._tools = tools
        self._seen: dict[str, str] = {}

    def admit(self, preference: Preference, place: str) -> None:
        """Checks a pair and remembers its instruction.

        Args:
            preference: The pair.
            place: Where it stands, for the refusal of one that says the same.

        Raises:
            ValueError: What is wrong with it.
        """
        if preference.kind not in TABLE_KINDS:
            raise ValueError(
                f"kind: {preference.kind!r} is not allowed; use {', '.join(TABLE_KINDS)}"
            )
        if any(unicodedata.category(c) in _NO_LINE for c in preference.instruction):
            raise ValueError(
                f"instruction: {preference.instruction!r} holds what cannot stand in one line of "
                "text"
            )
        words = normalised(preference.instruction)
        if not words:
            raise ValueError(f"instruction: {preference.instruction!r} has no words")
        check_vector(preference, self._tools)
        if not any((preference.outcome, preference.cost, preference.latency)) and not any(
            preference.tools.values()
        ):
            raise ValueError("every weight is 0: no rollout would be better than another")
        if words in self._seen:
            raise ValueError(
                f"instruction: {preference.instruction!r} is there already, at {self._seen[words]}"
            )
        self._seen[words] = place


def named(words: Iterable[str], instruction: str) -> list[str]:
    """Which of some names stand in an instruction as words of their own."""
    return [
        word
        for word in words
        if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", instruction, re.IGNORECASE)
    ]


def tells_apart(preference: Preference, offered: Collection[str]) -> bool:
    """Whether a wish is not about tools, or weighs some of the offered ones unlike others."""
    return not preference.tools or len({preference.tools.get(tool, 0.0) for tool in offered}) > 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    pair: Pair
    needs: tuple[frozenset[str], ...]
    """Of each of these sets a tool is to be offered: what is not there cannot be disliked."""


class PairTable:
    """Finds the pairs of a split that fit an episode."""

    def __init__(self, pairs: Sequence[Pair], tools: Sequence[ToolTraits]) -> None:
        """Takes all pairs, and all tools that an episode might offer or an instruction name."""
        groups = {tool.name: frozenset([tool.name]) for tool in tools}
        for pair in pairs:  # of a file, which may know more tools
            groups |= {name: frozenset([name]) for name in pair.preference.tools}
        for family in {tool.family for tool in tools} - {""}:
            groups[family] = frozenset(tool.name for tool in tools if tool.family == family)
        self._rows = [
            _Row(
                pair=pair,
                needs=tuple(groups[name] for name in named(groups, pair.preference.instruction)),
            )
            for pair in pairs
        ]

    def fitting(self, split: Split, offered: Collection[str]) -> Mapping[str, list[Preference]]:
        """By kind, the pairs that fit, with the weights of the offered tools alone.

        A pair fits where every tool that it names is offered, and one of every family that it
        names, and where it tells some of the offered tools from others.
        """
        found: dict[str, list[Preference]] = {}
        for row in self._rows:
            wish = row.pair.preference
            is_met = all(not need.isdisjoint(offered) for need in row.needs)
            if row.pair.split == split and is_met and tells_apart(wish, offered):
                tools = {name: weight for name, weight in wish.tools.items() if name in offered}
                found.setdefault(wish.kind, []).append(replace(wish, tools=tools))
        return found


def coverage(pairs: Iterable[Pair]) -> dict[str, dict[Split, int]]:
    """How many pairs there are of each kind and split."""
    counts: dict[str, dict[Split, int]] = {kind: dict.fromkeys(SPLITS, 0) for kind in TABLE_KINDS}
    for pair in pairs:
        counts[pair.preference.kind][pair.split] += 1
    return counts
