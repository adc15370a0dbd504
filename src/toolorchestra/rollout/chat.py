"""The growing chat: results are appended, and a message that calls no tool is said to the user, who
may answer (section 2.2).

All calls of a message run, under the tools' own names.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.chat.history import history, policy_message, shown_after, user_message
from toolorchestra.chat.messages import answer_of, episode_messages, tool_schemas
from toolorchestra.chat.parse import ParsedMessage
from toolorchestra.chat.render import Renderer
from toolorchestra.rollout.protocol import Accepted, Prompt
from toolorchestra.types import Episode, Turn


class Chat:
    """A conversation that grows; see `Conversation`."""

    is_over_when_cut = True

    def __init__(self, renderer: Renderer, *, system_prompt: str, tool_style: str) -> None:
        self._renderer, self._system_prompt, self._style = renderer, system_prompt, tool_style

    def prompt(self, episode: Episode, turns: Sequence[Turn], *, is_ended: bool) -> Prompt:
        """The question at first, then what the last message caused.

        That is the results of its calls and what was wrong in it, or what the user says.
        """
        if not turns:
            messages = episode_messages(episode, self._system_prompt)
            schemas = tool_schemas(episode.tools, style=self._style)
            return Prompt(ids=tuple(self._renderer.prompt_ids(messages, schemas)), is_new=True)
        if (user := turns[-1].user) is not None:
            return self._after_user(episode, turns, user.text, is_ended)
        ids = self._renderer.result_ids(shown_after(turns[-1]), is_ended=is_ended)
        return Prompt(ids=tuple(ids), is_new=False)

    def accept(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> Accepted:
        """All calls, as they were written."""
        return Accepted(calls=parsed.calls)

    def answer(self, episode: Episode, turns: Sequence[Turn], parsed: ParsedMessage) -> str | None:
        """What a message says that calls nothing."""
        return None if parsed.calls or parsed.errors else answer_of(parsed.content)

    def _after_user(
        self, episode: Episode, turns: Sequence[Turn], said: str, is_ended: bool
    ) -> Prompt:
        """What the user said: appended, or the whole chat anew where it changes what was before."""
        schemas = tool_schemas(episode.tools, style=self._style)
        messages = episode_messages(episode, self._system_prompt)
        messages += [*history(turns[:-1]), policy_message(turns[-1])]
        if self._renderer.rewrites_history(messages, schemas):
            ids = self._renderer.prompt_ids([*messages, user_message(said)], schemas)
            return Prompt(ids=tuple(ids), is_new=True)
        return Prompt(ids=tuple(self._renderer.user_ids(said, is_ended=is_ended)), is_new=False)
