"""What the policy is told of a tool: name, abilities, arguments, and what a call costs and takes.

Ratings put the odds of a tool on a scale from 0 to 5, as the model descriptions of the paper's
Appendix C do in words. Texts are short: a small policy reads them in every episode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy

from toolorchestra.domain.kinds import AnyFunction
from toolorchestra.pricing.cost import cost_usd
from toolorchestra.tool.config import CARRIED_OUT_BY, SIMULATED_KINDS, Odds, ToolConfig
from toolorchestra.types import Json, OfferedTool, Price, Usage

ARGUMENTS = {
    "llm": "question",
    "web_search": "query",
    "local_search": "query",
    "code_interpreter": "code",
    "function": "text",
}
"""The one argument of each kind; without it a tool works on the task's question. Those of MCP
servers' tools are the server's."""


def offer(
    name: str, tool: ToolConfig, *, question: str, price: Price, is_simulated: bool
) -> OfferedTool:
    """Offers one tool for a task.

    Args:
        name: The name to call it by.
        tool: What it is.
        question: The task's question, which a typical call passes on.
        price: The tool's price in this episode.
        is_simulated: Whether a simulator answers for it.
    """
    return OfferedTool(
        name=name,
        shown_as=shown_as(name, tool, is_simulated=is_simulated),
        description=describe(tool, is_simulated=is_simulated),
        parameters=deepcopy(tool.parameters or parameters(tool.kind)),
        priced_as=tool.charged_as,
        price=price,
        call_cost_usd=cost_usd(typical_usage(tool, question), price),
        latency_s=tool.latency_s,
    )


DOMAIN_ROW = "domain_function"
"""The row of the pricing schedules for functions of domains."""

_FREE = Price(source="runs on this machine", date="2026-11-30")


def offer_function(function: AnyFunction, *, latency_s: float) -> OfferedTool:
    """Offers a function of the task's domain, free of charge.

    Args:
        function: What it does and takes.
        latency_s: Service time of every call, in seconds.
    """
    return OfferedTool(
        name=function.name,
        shown_as=function.name,
        description=function.description,
        parameters=deepcopy(dict(function.parameters)),
        priced_as=(DOMAIN_ROW,),
        price=_FREE,
        call_cost_usd=0.0,
        latency_s=latency_s,
    )


def shown_as(name: str, tool: ToolConfig, *, is_simulated: bool) -> str:
    """The tool's name in every table, e.g. "sim/GPT-5 (code)" for a simulated code writer."""
    if not is_simulated:
        return name
    role = f" ({tool.role})" if tool.role in CARRIED_OUT_BY else ""
    return f"sim/{tool.priced_as}{role}"


def describe(tool: ToolConfig, *, is_simulated: bool) -> str:
    """The tool's prose, then its ratings, e.g. "Frontier reasoner. math 5, logic 5".

    A real model is not rated: its profile is the simulator's, not a measurement.
    """
    if tool.kind in SIMULATED_KINDS and not is_simulated:
        return tool.description
    return f"{tool.description} {ratings(tool.profile)}".strip()


def ratings(profile: Mapping[str, Odds]) -> str:
    """The skills that round to 1 or more of 5, e.g. "math 5, logic 4"; halves round up."""
    stars = {skill: math.floor(5 * odds.right + 0.5) for skill, odds in profile.items()}
    return ", ".join(f"{skill} {star}" for skill, star in stars.items() if star > 0)


def parameters(kind: str) -> Json:
    """The JSON schema of a kind's arguments: one optional text."""
    text = {"type": "string", "description": "default: the task's question"}
    return {
        "type": "object",
        "properties": {ARGUMENTS[kind]: text},
        "required": [],
        "additionalProperties": False,
    }


def typical_usage(tool: ToolConfig, question: str) -> Usage:
    """What a call that passes on `question` is expected to consume."""
    return Usage(
        input_tokens=tool.typical_input_tokens(question),
        output_tokens=tool.output_tokens,
        compute_s=tool.compute_s,
        is_estimated=True,
    )
