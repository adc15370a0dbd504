"""One episode as the original ToolOrchestra puts it: one user message, rebuilt in every turn.

It holds the problem, the documents found, programs with their outputs, and answers tried. The tools
are functions whose one argument is the alias of a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolorchestra.aliases import Front, Reading
from toolorchestra.chat.config import UpstreamConfig
from toolorchestra.chat.gathered import ALIAS, Gathered
from toolorchestra.chat.messages import question_text, sentence, two_digits
from toolorchestra.chat.tail import Tail
from toolorchestra.types import Episode, Json, OfferedTool


def user_text(episode: Episode, gathered: Gathered, *, words: UpstreamConfig, tail: Tail) -> str:
    """The user message of one turn.

    Args:
        episode: What to solve. A preference that names tools names their aliases instead.
        gathered: What is known so far.
        words: Labels and limits.
        tail: Cuts texts by the policy's tokens.
    """
    instruction = with_aliases(episode.preference.instruction, episode)
    problem = question_text(episode.task.question, instruction)
    reading = Reading(
        max_document_chars=words.max_document_chars,
        max_work_tokens=words.max_work_tokens,
        max_context_tokens=words.max_context_tokens,
    )
    parts = [
        words.problem.format(problem=problem),
        context_text(gathered, reading, problem=problem, words=words, tail=tail),
    ]
    if words.note and gathered.notes:
        notes = enumerate(gathered.notes, start=1)
        parts.append("\n".join(words.note.format(number=n, text=text) for n, text in notes))
    return "\n\n".join([*parts, words.closing])


def context_text(
    gathered: Gathered, reading: Reading, *, problem: str, words: UpstreamConfig, tail: Tail
) -> str:
    """Documents, then programs and answers, cut to what somebody is to read of them."""
    documents = "".join(
        words.document.format(number=number, text=text[: reading.max_document_chars]) + "\n\n"
        for number, text in enumerate(gathered.documents, start=1)
    )
    work = _work_text(gathered, reading, words=words, tail=tail)
    headed = f"{documents}\n{words.work}\n{work}" if work else documents
    room = reading.max_context_tokens - tail.count(problem)
    shown = tail(headed, room)
    return f"{words.documents}\n{shown}" if documents and shown else shown


def _work_text(gathered: Gathered, reading: Reading, *, words: UpstreamConfig, tail: Tail) -> str:
    programs = [
        words.code.format(code=program.code, output=program.output) + "\n\n"
        for program in gathered.programs
    ]
    answers = [
        words.attempt.format(number=number, model=tried.model, answer=tried.answer) + "\n"
        for number, tried in enumerate(gathered.answers, start=1)
    ]
    whole = "".join([*programs, *answers])
    shown = tail(whole, reading.max_work_tokens)
    # a cut leaves the end of a program or output, whose fence is opened anew
    return f"```\n{shown}" if programs and len(shown) < len(whole) else shown


def front_schemas(episode: Episode, words: UpstreamConfig) -> list[Json]:
    """OpenAI function schemas of the episode's fronts, keys in the original's order."""
    tools = {tool.name: tool for tool in episode.tools}
    return [
        {
            "type": "function",
            "function": {
                "name": front.name,
                "description": front.description,
                "parameters": {
                    "properties": {
                        ALIAS: {"description": _choices(front, tools, words), "type": "string"}
                    },
                    "required": [ALIAS],
                    "title": "parameters",
                    "type": "object",
                },
            },
        }
        for front in episode.fronts
    ]


def _choices(front: Front, tools: dict[str, OfferedTool], words: UpstreamConfig) -> str:
    lines = [
        words.alias.format(alias=name, **_told(tools[alias.tool]))
        for name, alias in front.aliases.items()
        if words.alias
    ]
    return words.choices.format(
        argument=front.argument, aliases=list(front.aliases), lines="\n".join(lines)
    ).strip()


def _told(tool: OfferedTool) -> dict[str, str]:
    """What a text on an alias may say of its tool."""
    return {
        "tool": tool.name,
        "description": sentence(tool.description),
        "usd_per_input_mtok": two_digits(tool.price.usd_per_input_mtok),
        "usd_per_output_mtok": two_digits(tool.price.usd_per_output_mtok),
        "cents": two_digits(100 * tool.call_cost_usd),
        "seconds": two_digits(tool.latency_s),
    }


def with_aliases(text: str, episode: Episode) -> str:
    """A text with the episode's tools under their aliases: the policy knows no other names."""
    known: dict[str, list[str]] = {}
    for front in episode.fronts:
        for name, alias in front.aliases.items():
            known.setdefault(alias.tool, []).append(name)
    if not known:
        return text
    names: Sequence[str] = sorted(known, key=len, reverse=True)
    pattern = rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?![\w-])"
    return re.sub(pattern, lambda match: " or ".join(known[match.group(1)]), text)
