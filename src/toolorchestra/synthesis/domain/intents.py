"""What users come with: the seventh stage. Tasks are made of these, so that they are diverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from toolorchestra.domain.domain import Domain
from toolorchestra.synthesis.domain.catalogue import catalogue
from toolorchestra.synthesis.domain.rejection import Rejection, rejections_of, unreadable
from toolorchestra.synthesis.domain.subjects import Plan, Subject
from toolorchestra.synthesis.domain.workshop import NothingUsable, Workshop
from toolorchestra.synthesis.json_form import TEXT, list_of, object_of
from toolorchestra.synthesis.listed import Unfit, read_list

STAGE = "intents"
SYSTEM = """
You name what users of an assistant come with: an intent is one sentence that says what such a user
wants and under what circumstances, with no names, numbers or dates. Each can be met with the
functions shown, within the rules; some end in a refusal that the rules demand, most in a change of
records that takes several calls. No two are alike. Reply with JSON alone: {"intents": ["..."]}.
"""
SCHEMA = object_of({"intents": list_of(TEXT)})
_MAX_CHARS = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """What a user wants."""

    subject: str
    number: int
    """From 1, in the subject."""
    text: str

    @property
    def place(self) -> str:
        """What reports call it."""
        return f"{self.subject}-{self.number}"


def request(about: Plan, domain: Domain, subject: Subject, num_intents: int) -> str:
    """Asks for intents of one subject."""
    return (
        f"About: {about.about}\n\n{catalogue(domain)}\n\n"
        f"Subject: {subject.name}: {subject.description}\nName {num_intents} intents."
    )


def take_intent(item: Any, where: str) -> str:
    """An intent as one line.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(item, str) or not item.strip():
        raise ValueError(f"{where}: expected a sentence")
    if len(item) > _MAX_CHARS:
        raise ValueError(f"{where}: {len(item)} characters; use up to {_MAX_CHARS}")
    return " ".join(item.split())


async def name_intents(shop: Workshop, about: Plan, domain: Domain) -> list[Intent]:
    """The intents of all subjects, each once.

    Raises:
        NothingUsable: There are none.
    """
    replies = await shop.all(
        STAGE, [partial(_ask, shop, about, domain, one) for one in about.subjects]
    )
    intents, rejections, places = list[Intent](), list[Rejection](), dict[str, str]()
    for subject, (listed, rejected) in zip(about.subjects, replies, strict=True):
        rejections += rejected
        number = 0
        for where, text in listed:
            place = f"{subject.name}.{where}"
            first = places.setdefault(text.casefold(), place)
            if first == place:
                number += 1
                intents.append(Intent(subject=subject.name, number=number, text=text))
            else:
                reason = f"is there already, at {first}"
                rejections.append(
                    Rejection(stage=STAGE, place=place, kind="duplicate", reason=reason, said=text)
                )
    shop.journal.close(STAGE, intents, rejections)
    if not intents:
        raise NothingUsable("intents: none can be used; use another writer.model, with another out")
    return intents


async def _ask(
    shop: Workshop, about: Plan, domain: Domain, subject: Subject
) -> tuple[Sequence[tuple[str, str]], list[Rejection]]:
    number = shop.counts.intents

    def read(said: str) -> Any:
        own = set[str]()

        def take(item: Any, where: str) -> str:
            text = take_intent(item, where)
            if text.casefold() in own:
                raise Unfit(f"{where}: stands twice in the reply", kind="duplicate")
            own.add(text.casefold())
            return text

        return read_list(said, "intents", take)

    asked = await shop.writer.ask(
        SYSTEM, request(about, domain, subject, number), read, json_schema=SCHEMA
    )
    if asked.value is None:
        return (), [unreadable(STAGE, subject.name, asked.fault, asked.said)]
    return asked.value.items[:number], rejections_of(STAGE, subject.name, asked.value.refused)
