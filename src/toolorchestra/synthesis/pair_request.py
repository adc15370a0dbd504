"""What the models that propose and validate preference pairs are told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from toolorchestra.codec import to_json
from toolorchestra.preference.traits import ToolTraits
from toolorchestra.synthesis.json_form import list_of, object_of
from toolorchestra.types import Json, OfferedTool, Preference

MEANINGS: Mapping[str, str] = {
    "cost": "how much the user minds what calls cost",
    "latency": "how much the user minds waiting",
    "privacy": "tools that stay on the user's machines, or services that the user shuns",
    "vendor": "a family of models that the user likes or dislikes",
    "like": "one tool that the user likes, by its name",
    "dislike": "one tool that the user dislikes, by its name",
    "combination": "two of these at once: cost, latency, privacy, a vendor, a tool",
}
ABOUT_TOOLS = ("privacy", "vendor", "like", "dislike")
"""Kinds that mean nothing without weights of tools."""

_NUMBER = {"type": "number"}


def kinds_for(tools: Sequence[ToolTraits]) -> list[str]:
    """The kinds of wish that these tools allow."""
    places = {tool.is_local for tool in tools}
    impossible = set()
    if len(places) < 2:
        impossible.add("privacy")
    if not any(tool.family for tool in tools):
        impossible.add("vendor")
    if len(tools) < 2:
        impossible |= {"like", "dislike"}
    return [kind for kind in MEANINGS if kind not in impossible]


def account_of(tools: Sequence[OfferedTool], traits: Sequence[ToolTraits]) -> str:
    """A toolset with its prices and latencies, a line a tool."""
    known = {item.name: item for item in traits}
    lines = []
    for tool in tools:
        trait = known[tool.name]
        place = "on the user's machines" if trait.is_local else "a remote service"
        family = f", {trait.family} family" if trait.family else ""
        lines.append(
            f"- {tool.name}: {tool.description} ({trait.job}{family}, {place}, "
            f"${tool.call_cost_usd:.6f} and {tool.latency_s:g} s a call)"
        )
    return "Tools:\n" + "\n".join(lines)


def proposal_request(account: str, kind: str, *, number: int, num_batches: int, size: int) -> str:
    """Asks for one batch of pairs of one kind."""
    return (
        f"{account}\n\nKind: {kind}, which is about {MEANINGS[kind]}.\n"
        f"This is request {number} of {num_batches} for this kind: each is to give other wishes.\n"
        f"Write {size} pairs."
    )


def validation_request(account: str, wish: Preference) -> str:
    """Asks whether an instruction and a vector mean the same."""
    return f"{account}\n\nThe pair:\n{json.dumps(to_json(wish), ensure_ascii=False)}"


def proposal_schema(tools: Sequence[str]) -> Json:
    """Of a batch; weights are a list, as strict schemas name every key of an object."""
    weight = object_of({"tool": {"type": "string", "enum": list(tools)}, "weight": _NUMBER})
    pair = object_of(
        {
            "instruction": {"type": "string"},
            "outcome": _NUMBER,
            "cost": _NUMBER,
            "latency": _NUMBER,
            "tools": list_of(weight),
        }
    )
    return object_of({"pairs": list_of(pair)})


VERDICT_SCHEMA = object_of({"reason": {"type": "string"}, "is_consistent": {"type": "boolean"}})
"""The reason comes first, as it is to lead to the verdict."""
