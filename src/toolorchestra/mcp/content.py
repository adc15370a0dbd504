"""What an MCP tool gave back, as the text that the policy reads."""

from __future__ import annotations

import json

from mcp.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)


def text_of(result: CallToolResult) -> str:
    """All blocks of a result, one below the other; empty where there is nothing.

    Structured content is written as JSON only where there is no text: a server that has both is to
    say the same in both. What is no text becomes a line that says what it was.
    """
    blocks = [_text(block) for block in result.content]
    has_text = any(isinstance(b, TextContent) and b.text.strip() for b in result.content)
    if result.structured_content is not None and not has_text:
        blocks.insert(0, json.dumps(result.structured_content, ensure_ascii=False))
    text = "\n".join(block for block in blocks if block.strip())
    # a lone half of a surrogate pair can be neither tokenised nor written to a file
    return text.encode("utf-8", "replace").decode("utf-8")


def cut(text: str, max_characters: int) -> str:
    """The beginning of a text, and a last line that says how much was cut, if anything was."""
    if len(text) <= max_characters:
        return text
    return f"{text[:max_characters]}\n[cut: {max_characters} of {len(text)} characters]"


def _text(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type}: {block.mime_type}, {_num_bytes(block.data)} bytes]"
        case ResourceLink():
            return f"[resource: {block.uri} {block.name}]"
        case EmbeddedResource():
            held = block.resource
            if isinstance(held, TextResourceContents):
                return held.text
            kind = held.mime_type or "unknown type"
            return f"[resource: {held.uri}, {kind}, {_num_bytes(held.blob)} bytes]"


def _num_bytes(base64: str) -> int:
    """Length of what a text in Base64 stands for."""
    return len(base64) * 3 // 4 - base64[-2:].count("=")
