"""What a judging model is asked: three fenced texts, none of which can pose as an instruction.

A fence is two lines with a mark that is a digest of the texts themselves: no text can hold its own
mark, so that none can end its fence early. Spellings of control tokens, such as a chat template's
end of message, are broken up; otherwise a served model would read them as the end of the prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

from toolorchestra.provider.base import Message

VERDICTS = ("correct", "incorrect", "not_attempted")

SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "verdict": {"type": "string", "enum": list(VERDICTS)},
    },
    "required": ["reasoning", "verdict"],
    "additionalProperties": False,
}
"""Of the judge's reply; the reasoning comes first, as it is to lead to the verdict."""

_PLACE = re.compile(r"\{(question|gold|answer|mark)\}")
_CONTROL = re.compile("<(?=[a-zA-Z_/|\uff5c])|(?<=[|\uff5c])(?=>)|\\[(?=/?[A-Z_]{3,}\\])")
_MARK_CHARS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What is to be judged."""

    question: str
    golds: tuple[str, ...]
    """The right answer, and other ways to put it."""
    given: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompts:
    """The prompts as configured, with places for the texts."""

    system: str
    user: str


def messages_of(case: Case, prompts: Prompts) -> list[Message]:
    """The prompts with the texts of a case in their fences."""
    texts = {
        "question": case.question,
        "gold": "\nor: ".join(case.golds),
        "answer": case.given,
    }
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode())
    mark = digest.hexdigest()[:_MARK_CHARS]
    parts = {name: _fenced(name, text, mark) for name, text in texts.items()} | {"mark": mark}
    # one pass: a place that is spelt out in a text stays as it is
    user = _PLACE.sub(lambda match: parts[match[1]], prompts.user)
    return [
        Message(role="system", content=prompts.system),
        Message(role="user", content=user),
    ]


def _fenced(name: str, text: str, mark: str) -> str:
    return f"[{name} {mark} begins]\n{without_control(text)}\n[{name} {mark} ends]"


def without_control(text: str) -> str:
    """`text` with a space in whatever a model's tokenizer might take for a control token."""
    return _CONTROL.sub(lambda match: f"{match[0]} ", text)
