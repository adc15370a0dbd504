"""The domain's rules, and which functions it is to have: the fifth stage."""

from __future__ import annotations

import json
import keyword
import re
from dataclasses import dataclass

from toolorchestra.synthesis.ask import Reading, record_of
from toolorchestra.synthesis.domain.entries import Records
from toolorchestra.synthesis.domain.schema import Design
from toolorchestra.synthesis.domain.subjects import Plan
from toolorchestra.synthesis.domain.workshop import Workshop
from toolorchestra.synthesis.json_form import TEXT, YES_NO, list_of, object_of
from toolorchestra.synthesis.listed import AGAIN

STAGE = "outline"
SYSTEM = """
You plan the functions of a domain, with which an assistant serves its users, and the rules that it
has to keep to. The rules are Markdown of at most 300 words: what is allowed when, what to do first
of several things, what something costs. They hold for every case and leave no choice. Each function
does one thing: it looks records up, or it changes some and refuses what the records do not allow. A
user's wish takes several calls. Names are lower-case words joined by "_". Reply with JSON alone:
{"policy": "...", "functions": [{"name": "...", "purpose": "...", "is_write": false}]}.
"""
SCHEMA = object_of(
    {
        "policy": TEXT,
        "functions": list_of(object_of({"name": TEXT, "purpose": TEXT, "is_write": YES_NO})),
    }
)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_SHOWN_RECORDS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """A function that is to be written."""

    name: str
    purpose: str
    is_write: bool
    """Whether it changes records."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or keyword.iskeyword(self.name):
            raise ValueError(f"the name {self.name!r} is not allowed; use {_NAME.pattern}")
        if not self.purpose.strip():
            raise ValueError(f"{self.name} needs a purpose")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """Rules and functions."""

    policy: str
    functions: tuple[Planned, ...]

    def __post_init__(self) -> None:
        names = [one.name for one in self.functions]
        if not self.policy.strip() or not names:
            raise ValueError("an outline needs rules and functions")
        if len(set(names)) < len(names):
            raise ValueError("two functions have the same name")


def account(about: Plan, design: Design, records: Records) -> str:
    """The domain as those who write functions read it: its schema, and some records of each."""
    lines = [
        json.dumps({name: one}, ensure_ascii=False)
        for name, known in records.items()
        for one in list(known.values())[:_SHOWN_RECORDS]
    ]
    schema = json.dumps(design.value, ensure_ascii=False)
    return f"About: {about.about}\n\nSchema:\n{schema}\n\nSome records:\n" + "\n".join(lines)


def request(about: Plan, design: Design, records: Records, num_functions: int) -> str:
    """Asks for rules and functions."""
    subjects = "\n".join(f"- {one.name}: {one.description}" for one in about.subjects)
    return (
        f"{account(about, design, records)}\n\nSubjects:\n{subjects}\n\n"
        f"Name {num_functions} functions."
    )


def read(said: str) -> Reading[Outline]:
    """The outline of a reply."""
    try:
        return Reading(value=record_of(Outline, said))
    except ValueError as error:
        return Reading(value=None, fault=f"{error}. {AGAIN}")


async def outline(shop: Workshop, about: Plan, design: Design, records: Records) -> Outline:
    """Has rules and functions planned; functions beyond the number asked for are left out.

    Raises:
        NothingUsable: No reply can be used.
    """
    text = request(about, design, records, shop.counts.functions)
    whole = await shop.must(STAGE, SYSTEM, text, read, json_schema=SCHEMA)
    found = Outline(policy=whole.policy, functions=whole.functions[: shop.counts.functions])
    shop.journal.close(STAGE, found.functions, [])
    return found
