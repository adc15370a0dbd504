"""What a domain is about, and its main subjects: the first stage."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.synthesis.ask import Reading, record_of
from toolorchestra.synthesis.domain.workshop import Workshop
from toolorchestra.synthesis.json_form import TEXT, list_of, object_of
from toolorchestra.synthesis.listed import AGAIN

STAGE = "subjects"
SYSTEM = """
You plan a domain: a world such as a shop's or an office's desk, where an assistant serves users
with functions over a database. Say in one sentence whom the assistant serves and with what, then
name the main subjects that its users come with. Everything is invented; no real people, firms or
addresses. Reply with JSON alone: {"about": "...", "subjects": [{"name": "...", "description":
"..."}]}.
"""
SCHEMA = object_of(
    {"about": TEXT, "subjects": list_of(object_of({"name": TEXT, "description": TEXT}))}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """One thing that users come with."""

    name: str
    description: str

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.description.strip():
            raise ValueError("a subject needs a name and a description")


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What the domain is about."""

    about: str
    subjects: tuple[Subject, ...]

    def __post_init__(self) -> None:
        names = [one.name.casefold().strip() for one in self.subjects]
        if not self.about.strip() or not names:
            raise ValueError("a plan needs a sentence and a subject")
        if len(set(names)) < len(names):
            raise ValueError("two subjects have the same name")


def request(name: str, subject: str, num_subjects: int) -> str:
    """Asks for a plan."""
    said = f"What it is about: {subject.strip()}" if subject.strip() else "Say what it is about."
    return f"Domain: {name}\n{said}\nName {num_subjects} subjects."


def read(said: str) -> Reading[Plan]:
    """The plan of a reply."""
    try:
        return Reading(value=record_of(Plan, said))
    except ValueError as error:
        return Reading(value=None, fault=f"{error}. {AGAIN}")


async def plan(shop: Workshop) -> Plan:
    """Has the domain planned; subjects beyond the number asked for are left out.

    Raises:
        NothingUsable: No reply can be used.
    """
    text = request(shop.name, shop.subject, shop.counts.subjects)
    whole = await shop.must(STAGE, SYSTEM, text, read, json_schema=SCHEMA)
    subjects = whole.subjects[: shop.counts.subjects]
    shop.journal.close(STAGE, subjects, [])
    return Plan(about=whole.about, subjects=subjects)
