"""An episode behind the original's three functions, and turns played in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.unit.rollout.stage import make_episode

from toolorchestra.aliases import Alias, Front, Reading
from toolorchestra.types import Episode, ToolCall, ToolResult, Turn

READING = Reading(max_document_chars=None, max_work_tokens=4000, max_context_tokens=8000)
NARROW = Reading(max_document_chars=10, max_work_tokens=50, max_context_tokens=100)


def front(name: str, gives: Any, **aliases: Alias) -> Front:
    return Front(
        name=name,
        description=f"Does {name}.",
        argument=f"Who does {name}.",
        gives=gives,
        aliases={alias.replace("_", "-"): to for alias, to in aliases.items()},
    )


def to(tool: str, reading: Reading = READING) -> Alias:
    return Alias(tool=tool, reading=reading)


FRONTS = (
    front("enhance_reasoning", "code", reasoner_1=to("coder")),
    front("answer", "answer", answer_1=to("big"), answer_2=to("small", NARROW)),
    front("search", "document", search_1=to("seeker"), search_2=to("wiki")),
)
TOOLS = ("coder", "big", "small", "seeker", "wiki")
EPISODE_PREFERENCE = make_episode().preference


def fronted(**changes: Any) -> Episode:
    """Five tools behind six aliases; `wiki` takes a query, the others a question."""
    episode = make_episode(*TOOLS, fronts=FRONTS, **changes)
    tools = tuple(
        replace(tool, parameters={"type": "object", "properties": {"query": {"type": "string"}}})
        if tool.name == "wiki"
        else tool
        for tool in episode.tools
    )
    return replace(episode, tools=tools)


def turn(function: str, alias: str, content: str, tool: str = "x", **changes: Any) -> Turn:
    """A turn whose one call gave `content`; `changes` are of the result."""
    call = ToolCall(id="call_0", name=function, arguments={"model": alias})
    fields: dict[str, Any] = {"call_id": "call_0", "name": tool, "content": content, "status": "ok"}
    return Turn(
        prompt_tokens=1,
        completion_ids=(1,),
        logprobs=(0.0,),
        version=0,
        finish_reason="stop",
        text="",
        thinking="",
        calls=(call,),
        errors=(),
        results=(ToolResult(**(fields | changes)),),
        policy_cost_usd=0.0,
    )
