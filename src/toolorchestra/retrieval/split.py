"""Long documents become passages: cut at the end of a sentence if one is near, else of a word."""

from __future__ import annotations

import re

from toolorchestra.retrieval.record import Document, Passage

_SENTENCE_END = re.compile(r"[.!?。！？][\"')\]]*\s|\n")
_SPACE = re.compile(r"\s")


def split(document: Document, *, max_chars: int, overlap_chars: int) -> list[Passage]:
    """The passages of a document, in order; none where it has no text.

    Args:
        document: What to cut.
        max_chars: Longest passage, in characters.
        overlap_chars: About how much of a passage's end the next one repeats; at most half of
            `max_chars`.
    """
    texts = _pieces(document.text, max_chars, overlap_chars)
    return [
        Passage(
            id=f"{document.id}#{number}" if number else document.id,
            document=document.id,
            title=document.title,
            text=text,
        )
        for number, text in enumerate(texts)
    ]


def _pieces(text: str, max_chars: int, overlap_chars: int) -> list[str]:
    pieces, start = [], 0
    while start < len(text):
        end = len(text)
        if end - start > max_chars:
            end = start + _cut(text[start : start + max_chars])
        if piece := text[start:end].strip():
            pieces.append(piece)
        if end == len(text):
            break
        start = _begin_before(text, end, end - overlap_chars, floor=start + 1)
    return pieces


def _cut(window: str) -> int:
    """Where a full window ends: behind the last sentence of its second half, or its last word."""
    half = len(window) // 2
    for pattern in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(window, half)]
        if ends:
            return ends[-1]
    return len(window)


def _begin_before(text: str, end: int, wanted: int, *, floor: int) -> int:
    """Where the next passage begins: at a word, from `wanted` on and before `end`."""
    wanted = max(wanted, floor)
    space = _SPACE.search(text, wanted, end)
    return space.end() if wanted < end and space else wanted
