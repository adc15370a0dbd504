"""Arguments of the tools that take one text, which defaults to the task's question."""

from __future__ import annotations

from toolorchestra.types import Json


def text_parameters(argument: str, description: str) -> Json:
    """JSON schema of a tool with the one optional argument `argument`."""
    return {
        "type": "object",
        "properties": {argument: {"type": "string", "description": description}},
        "required": [],
        "additionalProperties": False,
    }


def text_or_question(arguments: Json, argument: str, question: str) -> str:
    """The text that a call asks for; `question` where the argument is absent or blank."""
    text = arguments.get(argument)
    return text if isinstance(text, str) and text.strip() else question
