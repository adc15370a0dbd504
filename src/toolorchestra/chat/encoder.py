"""Text to ids such that only the chat template can make control tokens.

A tokenizer maps the text of an added token ("<|im_end|>", "<tool_call>") to its id wherever it
stands, so that a tool result could close its own turn or open a system one. Here untrusted text is
marked before rendering (`shield`); `encode` cuts the rendered text at the template's own control
tokens and encodes what lies between with a copy of the tokenizer that knows none of them. Harmless
text gets the very ids of the plain tokenizer.
"""

from __future__ import annotations

import json
import re
import secrets
from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

ASSISTANT_TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>")
"""Tags that a policy message is made of, whether the tokenizer calls them special or not."""
_CACHED_CHARS = 20_000
_CACHED_TEXTS = 256


class SafeEncoder:
    """Encodes rendered chats; text that was shielded never becomes a control token."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        """Prepare a copy of the tokenizer whose control tokens no text can spell.

        Raises:
            ValueError: If the tokenizer has no control token, or its model spells one by itself.
        """
        added = tokenizer.added_tokens_decoder
        control = {i: t for i, t in added.items() if t.special or _is_visible(t.content)}
        if not control:
            raise ValueError("the tokenizer has no special token to end a turn with; add one")
        self._mark = f"zq{secrets.token_hex(12)}qz"
        # Longest first, as the tokenizer matches; a mark behind a token's text disarms it.
        tokens = sorted(control.items(), key=lambda item: -len(item[1].content))
        self.control_ids = frozenset(control)
        self._ids = [i for i, _ in tokens]
        self._control = re.compile("|".join(_pattern(t, self._mark) for _, t in tokens))
        self._shielded = _any_of(t.content for _, t in tokens)
        contents = [t.content for _, t in tokens]
        special = [t.content for _, t in tokens if t.special and t.content not in ASSISTANT_TAGS]
        self._tags = {c for c in contents if not any(end in c for end in special)}
        self._anchor = f"{self._mark}{contents[0]}{self._mark}"
        self._plain = _without(tokenizer.backend_tokenizer, contents, self._mark)
        self._short_ids = lru_cache(maxsize=_CACHED_TEXTS)(self._text_ids)
        spelt = [c for c in contents if self.control_ids.intersection(self._text_ids(c, False))]
        if spelt:
            raise ValueError(f"the tokenizer's model spells control tokens by itself: {spelt[:3]}")

    def shield(self, text: str, *, is_assistant: bool = False) -> str:
        """Mark control tokens spelt in untrusted text, and replace lone surrogates.

        Args:
            text: Untrusted text.
            is_assistant: Whether it is history of the policy, which may use tags but not end turns.

        Returns:
            Text to put through the template; `encode` and `readable` remove the marks.
        """
        text = encodable(text)

        def marked(match: re.Match[str]) -> str:
            spelt = match.group()
            if is_assistant and spelt in self._tags:
                return spelt
            return "".join(char + self._mark for char in spelt)

        return self._shielded.sub(marked, text)

    def shield_all(self, value: Any) -> Any:
        """`shield` every string of a JSON value, keys included."""
        if isinstance(value, str):
            return self.shield(value)
        if isinstance(value, dict):
            return {self.shield(str(k)): self.shield_all(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.shield_all(v) for v in value]
        return value

    def readable(self, text: str) -> str:
        """Rendered text without marks."""
        return text.replace(self._mark, "")

    def first_control(self, text: str) -> tuple[str, int] | None:
        """Text and id of the first control token that the template wrote in rendered text."""
        match = self._control.search(text)
        if match is None or match.lastindex is None:
            return None
        return match.group(match.lastindex), self._ids[match.lastindex - 1]

    def encode(self, text: str) -> list[int]:
        """Ids of rendered text: control tokens where the template wrote them, and only there."""
        ids: list[int] = []
        position = 0
        for match in self._control.finditer(text):
            ids += self._between(text[position : match.start()], position == 0)
            ids.append(self._ids[(match.lastindex or 1) - 1])
            position = match.end()
        ids += self._between(text[position:], position == 0)
        return ids

    def _between(self, text: str, is_start: bool) -> tuple[int, ...]:
        text = self.readable(text)
        if not text:
            return ()
        return (self._short_ids if len(text) <= _CACHED_CHARS else self._text_ids)(text, is_start)

    def _text_ids(self, text: str, is_start: bool) -> tuple[int, ...]:
        if is_start:
            return tuple(self._plain.encode(text, add_special_tokens=False).ids)
        # Some tokenizers treat the start of a text differently: an anchor token keeps this off it.
        return tuple(self._plain.encode(self._anchor + text, add_special_tokens=False).ids[1:])


def _is_visible(content: str) -> bool:
    return bool(content.replace("\u2581", "").strip())


def _any_of(contents: Any) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(content) for content in contents))


def _pattern(token: Any, mark: str) -> str:
    before, after = r"\s*" if token.lstrip else "", r"\s*" if token.rstrip else ""
    return f"{before}({re.escape(token.content)})(?!{mark}){after}"


def encodable(text: str) -> str:
    """The text with lone surrogates replaced, which no tokenizer takes."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _without(backend: Tokenizer, contents: list[str], mark: str) -> Tokenizer:
    """A copy that knows each control token under a name that no text contains.

    Renamed rather than removed: every id stays what it was.
    """
    names = {content: f"{mark}{content}{mark}" for content in contents}
    spec = json.loads(backend.to_str())
    spec.update(post_processor=None, truncation=None, padding=None)
    for token in spec["added_tokens"]:
        if token["content"] in names:
            flags = dict.fromkeys(("lstrip", "rstrip", "normalized", "single_word"), False)
            token.update(flags, content=names[token["content"]])
    model = spec["model"]
    if isinstance(model["vocab"], dict):
        model["vocab"] = {names.get(piece, piece): i for piece, i in model["vocab"].items()}
    else:
        model["vocab"] = [[names.get(piece, piece), score] for piece, score in model["vocab"]]
    if "merges" in model:
        model["merges"] = [merge for merge in model["merges"] if not _makes(merge, names)]
    return Tokenizer.from_str(json.dumps(spec))


def _makes(merge: Any, names: dict[str, str]) -> bool:
    left, right = merge.split(" ", 1) if isinstance(merge, str) else merge
    return left in names or right in names or left + right in names
