"""The growing chat: results are appended, and a message that calls no tool answers (section 2.2).

All calls of a message run, under the tools' own names.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.chat.messages import answer_of, episode_messages, tool_schemas
from toolorchestra.chat.parse import ParsedMessage
from toolorchestra.chat.render import Renderer
from toolorchestra.rollout.protocol import Accepted, Prompt
from toolorchestra.types import CallError, Episode, ToolResult, Turn


class Chat:
    """A conversation that grows; see `Conversation`."""

    is_over_when_cut = True

    def __init__(self, renderer: Renderer, *, system_prompt: str, tool_style: str) -> None:
        self._renderer, self._system_prompt, self._style = renderer, system_prompt, tool_style

    def prompt(self, episode: Episode, turns: Sequence[Turn], *, is_ended: bool) -> Prompt:
        """The question at first, then the results of the last message and what was wrong in it."""
        if not turns:
            messages = episode_messages(episode, self._system_prompt)
            schemas = tool_schemas(episode.tools, style=self._style)
            return Prompt(ids=tuple(self._renderer.prompt_ids(messages, schemas)), is_new=True)
        shown = [*turns[-1].results, *map(_as_result, turns[-1].errors)]
        return Prompt(ids=tuple(self._renderer.result_ids(shown, is_ended=is_ended)), is_new=False)

    def accept(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> Accepted:
        """All calls, as they were written."""
        return Accepted(calls=parsed.calls)

    def answer(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> str | None:
        """What a message says that calls nothing."""
        return None if parsed.calls or parsed.errors else answer_of(parsed.content)


def _as_result(error: CallError) -> ToolResult:
    """Output that is no call, as a result that tells the policy what was wrong."""
    return ToolResult(call_id="", name="", content=f"error: {error.message}", status="policy_error")
