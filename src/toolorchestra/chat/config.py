"""The words of the original ToolOrchestra's prompt, and how much of an episode it shows.

Labels, their order and the limits are those that the released model was trained with; sentences are
our own. Whoever wants the original's wording to the letter writes it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

FIELDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "problem": (frozenset({"problem"}), frozenset()),
    "document": (frozenset({"text"}), frozenset({"number"})),
    "code": (frozenset({"code", "output"}), frozenset()),
    "attempt": (frozenset({"answer"}), frozenset({"number", "model"})),
    "note": (frozenset({"text"}), frozenset({"number"})),
    "choices": (frozenset({"argument"}), frozenset({"aliases", "lines"})),
    "alias": (
        frozenset({"alias"}),
        frozenset(
            {"tool", "description", "usd_per_input_mtok", "usd_per_output_mtok", "cents", "seconds"}
        ),
    ),
    "expert": (frozenset({"problem", "context"}), frozenset()),
}
"""Fields in braces that each text must have, and those that it may have besides."""
MAX_CHARS_PER_TOKEN = 8
"""Tokens of blanks can be far longer than any word; a text is cut to so many characters too."""
OPTIONAL = ("note", "alias")
"""Texts that may be empty, and then say nothing."""


@dataclass(kw_only=True)
class UpstreamConfig:
    """What each turn's one user message is made of, from top to bottom."""

    problem: str = "Problem: {problem}"
    documents: str = "Documents:"
    """Heads what was found; only there if something was."""
    document: str = "Doc {number}: {text} ..."
    work: str = "python code and execution outputs:"
    """Heads programs, their outputs and earlier answers; only there if there are any."""
    code: str = "```python\n{code}\n```\n\n```output\n{output}\n```"
    attempt: str = "Attempt{number} answer by {model}: {answer}"
    note: str = "Note {number}: {text}"
    """What a turn was worth nothing for: a fault of the policy, or a tool that found nothing. The
    original says nothing of either, by which a greedy policy does the same again; empty: so here.
    """
    closing: str = "Now choose the tool that helps most."
    choices: str = "{argument} Choices: {aliases}.\n{lines}"
    """Describes the argument `model`: `lines` holds one text `alias` for each."""
    alias: str = (
        "{alias}: {description} {usd_per_input_mtok} dollars per million input tokens, "
        "{usd_per_output_mtok} per million output tokens; a call: {cents} cents, {seconds} s."
    )
    """`description` is the tool's; empty: aliases are not described one by one."""
    expert: str = "{context}\n\nProblem:\n{problem}"
    """What a model behind an alias is asked, once there is a context."""
    max_document_chars: int | None = 4_000
    """Of each document, from its start; null: all."""
    max_work_tokens: int = 12_000
    """Of programs, outputs and earlier answers, the newest kept."""
    max_context_tokens: int = 24_000
    """Of problem, documents and work together, the newest kept."""
    num_answers: int = 1
    """Answers that end an episode (original: 1). The last one counts; earlier ones are shown."""

    def __post_init__(self) -> None:
        for key, (needed, possible) in FIELDS.items():
            if getattr(self, key) or key not in OPTIONAL:
                _check_fields(key, getattr(self, key), needed, possible)
        for key in ("max_document_chars", "max_work_tokens", "max_context_tokens", "num_answers"):
            value = getattr(self, key)
            if value is not None and value < 1:
                _refuse(key, value, "a whole number from 1")


def _check_fields(key: str, text: str, needed: frozenset[str], possible: frozenset[str]) -> None:
    try:
        found = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
    except ValueError:
        found = [""]
    if not needed <= set(found) <= needed | possible:
        names = ", ".join(f"{{{name}}}" for name in sorted(needed))
        more = ", ".join(f"{{{name}}}" for name in sorted(possible))
        _refuse(
            key, repr(text), f"a text with {names}" + (f" and, if you like, {more}" * bool(more))
        )


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"model.upstream.{key}: {value} is not allowed; use {allowed}")
