"""Chats to token ids: the first prompt, and what follows a sampled turn.

Sampled ids are kept as sampled (token-in, token-out), so only the difference is ever rendered: the
text that the chat template puts between a finished policy turn and the next one. It is read off a
made-up conversation; text of the model is never tokenised again.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerFast

from toolorchestra.chat.encoder import SafeEncoder
from toolorchestra.chat.messages import with_object_arguments
from toolorchestra.types import Json, ToolResult

_QUESTION: Json = {"role": "user", "content": "question"}
_TRICKY = (' \n"q\\ \u00e9 <x> ', "", "[1, 2]", '{"a": 1}')
_FIELDS = 3  # shown of a result: content, name, call id
_MOST_FILLED = 333


def builtin_template() -> str:
    """Our own chat template in Qwen3's format."""
    return files("toolorchestra.chat").joinpath("template.jinja").read_text(encoding="utf-8")


class Renderer:
    """Renders chats into ids with one tokenizer and one chat template."""

    end_of_turn: str
    """Text of the token that ends a policy turn."""
    end_of_turn_id: int
    """Its id: the stop token of sampling."""
    opens_thinking: bool
    """Whether the prompt ends inside a think block, so that sampled text begins in it."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        *,
        template: str | None,
        is_thinking: bool = True,
    ) -> None:
        """Learn from the template how a turn ends and how results are shown.

        Args:
            tokenizer: A fast tokenizer.
            template: Jinja text, e.g. `builtin_template()`; None takes the tokenizer's own.
            is_thinking: False asks templates that know `enable_thinking` for no thinking.

        Raises:
            ValueError: If there is no template, or it does not allow results to be appended.
        """
        if template is None:
            if not tokenizer.chat_template:
                raise ValueError("the tokenizer has no chat template; give one")
            template = tokenizer.get_chat_template(tools=[{}])
        self._tokenizer, self._template, self._is_thinking = tokenizer, template, is_thinking
        self._encoder = SafeEncoder(tokenizer)
        self._unique = secrets.token_hex(3)
        self._parts: dict[int, list[str]] = {}
        self.end_of_turn, self.end_of_turn_id = self._find_end_of_turn()
        self.opens_thinking = self.text([_QUESTION]).rstrip().endswith("<think>")
        self._thought = self._find_thought()
        self._is_static = all(self._is_fill_exact(text) for text in _TRICKY)
        self._check_ids()

    def text(
        self, messages: Sequence[Json], tools: Sequence[Json] = (), *, opens_turn: bool = True
    ) -> str:
        """Rendered text as a reader sees it; `opens_turn` adds the start of a policy turn."""
        return self._encoder.readable(self._safe_text(messages, tools, opens_turn))

    def prompt_ids(self, messages: Sequence[Json], tools: Sequence[Json] = ()) -> list[int]:
        """Ids of a chat up to and including the start of the policy's turn.

        Args:
            messages: Chat messages; arguments of history calls may be objects or JSON text.
            tools: OpenAI function schemas.

        Raises:
            ValueError: If a history call's arguments are no object, or the template refuses it.
        """
        return self._encoder.encode(self._safe_text(messages, tools, True))

    def result_ids(self, results: Sequence[ToolResult], *, is_ended: bool = True) -> list[int]:
        """Ids to append after a sampled turn: its tool results and the start of the next turn.

        Args:
            results: At least one result, in the order of the calls.
            is_ended: Whether the sampled turn ended with `end_of_turn_id`; if not, that id leads.

        Raises:
            ValueError: If there are several results and the template allows one call a turn only.
        """
        assert results, "there are no results to show"
        shield = self._encoder.shield
        values = [shield(text) for r in results for text in (r.content, r.name, r.call_id)]
        if self._is_static and len(results) <= _MOST_FILLED:
            return self._appended(self._filled(values), is_ended)
        return self._appended(self._rendered(values, self._thought)[1], is_ended)

    def user_ids(self, content: str, *, is_ended: bool = True) -> list[int]:
        """Ids to append after a sampled turn to show a user's message and open the next turn.

        Only where the template leaves earlier turns as they were, see `rewrites_history`.
        """
        said = f"{self._unique}said"
        user: Json = {"role": "user", "content": self._encoder.shield(content)}
        text = self._render([_QUESTION, {"role": "assistant", "content": said}, user], [], True)
        end = text.index(self.end_of_turn, text.index(said)) + len(self.end_of_turn)
        return self._appended(text[end:], is_ended)

    def rewrites_history(self, messages: Sequence[Json], tools: Sequence[Json] = ()) -> bool:
        """Whether a further user message makes the template rewrite earlier policy turns.

        Qwen3 drops the thinking of turns before the last user message. A new training row must then
        begin with the re-rendered prompt.

        Args:
            messages: The chat so far, with the thinking of its policy turns; ends with one.
            tools: OpenAI function schemas.
        """
        marker = f"{self._unique}said"
        result: Json = {"role": "tool", "content": "", "name": "f", "tool_call_id": "call00000"}
        try:  # Before a result the last turn stands as it was sampled.
            before = self._safe_text([*messages, result], tools, False)
            after = self._safe_text([*messages, {**_QUESTION, "content": marker}], tools, False)
        except ValueError:
            return True
        end = after.rindex(self.end_of_turn, 0, after.index(marker)) + len(self.end_of_turn)
        return not before.startswith(after[:end])

    def _safe_text(self, messages: Sequence[Json], tools: Sequence[Json], opens_turn: bool) -> str:
        shielded = [self._shielded(message) for message in messages]
        return self._render(shielded, self._encoder.shield_all(tools), opens_turn)

    def _shielded(self, message: Json) -> Json:
        shielded: Json = self._encoder.shield_all(with_object_arguments(message))
        if message.get("role") == "assistant" and isinstance(message.get("content"), str):
            shielded["content"] = self._encoder.shield(message["content"], is_assistant=True)
        return shielded

    def _render(self, messages: list[Json], tools: list[Json], opens_turn: bool) -> str:
        offered: list[Any] | None = tools or None
        try:
            rendered = self._tokenizer.apply_chat_template(
                messages,
                tools=offered,
                chat_template=self._template,
                add_generation_prompt=opens_turn,
                tokenize=False,
                enable_thinking=self._is_thinking,
            )
        except TemplateError as error:
            raise ValueError(f"the chat template refuses this chat: {error}") from error
        assert isinstance(rendered, str)
        return rendered

    def _appended(self, text: str, is_ended: bool) -> list[int]:
        ids = self._encoder.encode(self.end_of_turn + text)
        return ids[1:] if is_ended else ids

    def _find_end_of_turn(self) -> tuple[str, int]:
        said = f"{self._unique}said"
        text = self._render([_QUESTION, {"role": "assistant", "content": said}], [], False)
        token = self._encoder.first_control(text.rpartition(said)[2])
        if token is None:
            raise ValueError("the chat template ends a policy turn with no control token")
        return token

    def _find_thought(self) -> Json:
        """What to add to a made-up turn so that results after it leave its text as it was."""
        refusal = "the text of a turn changes when its results follow"
        for thought in ({"reasoning_content": "thought"}, {}):
            try:
                self._rendered(["", "f", "call00000"], thought)
                return thought
            except ValueError as error:
                refusal = str(error)
        raise ValueError(f"the chat template does not allow results to be appended: {refusal}")

    def _rendered(self, values: list[str], thought: Json) -> tuple[str, str]:
        """A made-up chat up to the end of its policy turn, and what its results add to that."""
        rows = [values[i : i + _FIELDS] for i in range(0, len(values), _FIELDS)]
        calls = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": {}}}
            for _, name, call_id in rows
        ]
        turn = {"role": "assistant", "content": "said", "tool_calls": calls, **thought}
        results = [
            {"role": "tool", "content": content, "name": name, "tool_call_id": call_id}
            for content, name, call_id in rows
        ]
        closed = self._render([_QUESTION, turn], [], False)
        closed = closed[: closed.rindex(self.end_of_turn) + len(self.end_of_turn)]
        whole = self._render([_QUESTION, turn, *results], [], True)
        if not whole.startswith(closed):
            raise ValueError("the text of a turn changes when its results follow")
        return closed, whole[len(closed) :]

    def _filled(self, values: list[str]) -> str:
        """What results add, from text rendered once for each number of results."""
        if len(values) not in self._parts:
            names = [f"{self._unique}{i:03d}" for i in range(len(values))]  # ids of 9 letters
            _, text = self._rendered(names, self._thought)
            self._parts[len(values)] = re.split(rf"{self._unique}(\d{{3}})", text)
        parts = self._parts[len(values)]
        return "".join(values[int(part)] if i % 2 else part for i, part in enumerate(parts))

    def _is_fill_exact(self, content: str) -> bool:
        """Whether the template shows a result's content as it is, neither trimmed nor quoted."""
        values = [content, "f", "call00000"]
        return self._filled(values) == self._rendered(values, self._thought)[1]

    def _check_ids(self) -> None:
        closed, added = self._rendered(["1 result", "f", "call00000"], self._thought)
        backend = self._tokenizer.backend_tokenizer
        whole = backend.encode(closed + added, add_special_tokens=False).ids
        past = backend.encode(closed, add_special_tokens=False).ids
        if whole != past + self._appended(added, True) or whole != self._encoder.encode(
            closed + added
        ):
            raise ValueError("the tokenizer merges text across the control tokens of its template")
