"""The original ToolOrchestra's protocol: a prompt rebuilt in every turn, tools behind aliases.

Every turn is a training row of its own. Of a message's calls the first that can be run is run; the
first answer, or that number `num_answers`, ends the episode. What runs is counted, timed and billed
as the tool behind the alias, the last answer too.
"""

from __future__ import annotations

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from toolorchestra.aliases import Alias, Front
from toolorchestra.chat.arguments import check_arguments, unknown_tool
from toolorchestra.chat.config import UpstreamConfig
from toolorchestra.chat.gathered import ALIAS, Gathered, gather
from toolorchestra.chat.messages import opening_messages
from toolorchestra.chat.parse import ParsedMessage
from toolorchestra.chat.render import Renderer
from toolorchestra.chat.tail import Tail
from toolorchestra.chat.upstream import context_text, front_schemas, user_text
from toolorchestra.rollout.execute import refused
from toolorchestra.rollout.protocol import Accepted, Prompt
from toolorchestra.toolset.offer import ARGUMENTS
from toolorchestra.types import CallError, Episode, Json, ToolCall, ToolResult, Turn

_PARAMETERS: Json = {
    "type": "object",
    "properties": {ALIAS: {"type": "string"}},
    "required": [ALIAS],
}
"""Other arguments are passed over, as in the original."""


class Upstream:
    """A conversation that begins anew each turn; see `Conversation`."""

    is_over_when_cut = False

    def __init__(
        self,
        renderer: Renderer,
        tokenizer: PreTrainedTokenizerBase,
        *,
        system_prompt: str,
        words: UpstreamConfig,
    ) -> None:
        self._renderer, self._system_prompt, self._words = renderer, system_prompt, words
        self._tail = Tail(tokenizer)

    def prompt(self, episode: Episode, turns: Sequence[Turn], *, is_ended: bool) -> Prompt:
        """The problem and all that was gathered on it."""
        text = user_text(episode, gather(episode, turns), words=self._words, tail=self._tail)
        messages = opening_messages(text, self._system_prompt)
        schemas = front_schemas(episode, self._words)
        return Prompt(ids=tuple(self._renderer.prompt_ids(messages, schemas)), is_new=True)

    def accept(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> Accepted:
        """The first call of a front with an alias that it has; those before it are refused."""
        fronts = {front.name: front for front in episode.fronts}
        faults: list[ToolResult] = []
        for call in parsed.calls:
            alias = _resolve(call, fronts)
            if isinstance(alias, Alias):
                arguments = self._arguments(episode, turns, alias)
                run = ToolCall(id=call.id, name=alias.tool, arguments=arguments)
                return Accepted(calls=(run,), refused=tuple(faults))
            faults.append(alias)
        return Accepted(calls=(), refused=tuple(faults), errors=_errors(parsed))

    def answer(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> str | None:
        """The answer that makes the number full."""
        answers = gather(episode, turns).answers
        return answers[-1].answer if len(answers) >= self._words.num_answers else None

    def _arguments(self, episode: Episode, turns: Sequence[Turn], alias: Alias) -> Json:
        """A model is asked with all that it is to read; anything else works on the question."""
        tool = next(tool for tool in episode.tools if tool.name == alias.tool)
        argument = ARGUMENTS["llm"]
        context = self._context(episode, gather(episode, turns), alias)
        if argument not in tool.parameters.get("properties", {}) or not context:
            return {}
        asked = self._words.expert.format(context=context, problem=episode.task.question)
        return {argument: asked}

    def _context(self, episode: Episode, gathered: Gathered, alias: Alias) -> str:
        return context_text(
            gathered,
            alias.reading,
            problem=episode.task.question,
            words=self._words,
            tail=self._tail,
        ).strip()


def _errors(parsed: ParsedMessage) -> tuple[CallError, ...]:
    """A message that calls nothing has wasted its turn, which is a fault here."""
    if parsed.calls or parsed.errors:
        return ()
    said = "was cut before it ended" if parsed.is_truncated else "called no tool"
    return (CallError(message=f"the message {said}, so nothing was run", text=parsed.content),)


def _resolve(call: ToolCall, fronts: dict[str, Front]) -> Alias | ToolResult:
    """What a call's alias stands for, or what is wrong with the call."""
    front = fronts.get(call.name)
    if front is None:
        return refused(call, unknown_tool(call, fronts).message)
    if error := check_arguments(call, _PARAMETERS):
        return refused(call, error.message)
    name = call.arguments[ALIAS]
    if name not in front.aliases:
        known = ", ".join(front.aliases)
        return refused(call, f"{call.name}: {ALIAS}: {name!r} is not allowed; use {known}")
    return front.aliases[name]
