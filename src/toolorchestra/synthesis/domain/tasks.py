"""Tasks made of intents, and harder ones made of these: the eighth and the ninth stage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.task import DomainTask
from toolorchestra.synthesis.domain.catalogue import catalogue
from toolorchestra.synthesis.domain.excerpt import excerpt
from toolorchestra.synthesis.domain.intents import Intent
from toolorchestra.synthesis.domain.rejection import Rejection, rejections_of, unreadable
from toolorchestra.synthesis.domain.task_form import HOW, as_form, take_task, task_schema
from toolorchestra.synthesis.domain.workshop import NothingUsable, Workshop
from toolorchestra.synthesis.listed import read_list

STAGE, EVOLUTION = "tasks", "evolution"
SYSTEM = f"""
You turn what users come with into tasks on a domain's records, each with the calls that solve it
and with what the user has to be told.
{HOW.strip()}
Reply with JSON alone: {{"tasks": [{{...}}]}}.
"""
EVOLVING = f"""
You make a task on a domain's records harder: more constraints, a condition that has to be looked
up, another thing that the user wants besides, a choice that the rules decide. It stays one user's
wish, and takes more calls than before. Nothing of it is left to taste.
{HOW.strip()}
Reply with JSON alone: {{"tasks": [{{...}}]}}, with the one harder task.
"""


_Replied = tuple[str, Sequence[tuple[str, DomainTask]], list[Rejection]]
"""Place, the tasks of a reply, and what is wrong with the others."""


class Admitted:
    """The tasks so far, each unlike all others."""

    def __init__(self, name: str) -> None:
        """Begins with none, for the domain of that name."""
        self.tasks = list[DomainTask]()
        self._name = name
        self._places = dict[str, str]()

    def admit(self, task: DomainTask, place: str) -> str | None:
        """Takes a task in under an id of its own, or says why not."""
        calls = [[one.name, dict(one.arguments)] for one in task.actions]
        essence = json.dumps([calls, list(task.communicate)], sort_keys=True)
        marks = {
            essence: "golden actions and what is to be said",
            task.instruction.casefold(): "words",
        }
        for mark, what in marks.items():
            if mark in self._places:
                return f"{what} are those of {self._places[mark]}"
        self._places |= dict.fromkeys(marks, place)
        self.tasks.append(replace(task, id=f"{self._name}-{len(self.tasks) + 1:04}"))
        return None


async def write_tasks(
    shop: Workshop, domain: Domain, intents: Sequence[Intent], admitted: Admitted
) -> None:
    """Has tasks of difficulty 1 written.

    Raises:
        NothingUsable: There are none.
    """
    replies = await shop.all(STAGE, [partial(_write, shop, domain, intent) for intent in intents])
    rejections = _admit_all(STAGE, replies, admitted)
    shop.journal.close(STAGE, admitted.tasks, rejections)
    if not admitted.tasks:
        raise NothingUsable("tasks: none can be used; use another writer.model, with another out")


async def evolve(shop: Workshop, domain: Domain, admitted: Admitted) -> None:
    """Has harder tasks made of the newest ones, as often as is asked for."""
    num_before, rejections = len(admitted.tasks), list[Rejection]()
    newest = list(admitted.tasks)
    for _ in range(shop.counts.evolutions):
        num_known = len(admitted.tasks)
        replies = await shop.all(
            EVOLUTION, [partial(_harden, shop, domain, task) for task in newest]
        )
        rejections += _admit_all(EVOLUTION, replies, admitted)
        newest = admitted.tasks[num_known:]
    shop.journal.close(EVOLUTION, admitted.tasks[num_before:], rejections)


def _admit_all(stage: str, replies: Sequence[_Replied], admitted: Admitted) -> list[Rejection]:
    rejections = list[Rejection]()
    for place, listed, rejected in replies:
        rejections += rejected
        for where, task in listed:
            reason = admitted.admit(task, f"{place}.{where}")
            if reason is not None:
                rejections.append(
                    Rejection(
                        stage=stage,
                        place=f"{place}.{where}",
                        kind="duplicate",
                        reason=reason,
                        said=task.instruction,
                    )
                )
    return rejections


async def _write(shop: Workshop, domain: Domain, intent: Intent) -> _Replied:
    records = excerpt(domain.database, seed=intent.text, num_records=shop.counts.shown_records)
    text = (
        f"{catalogue(domain)}\n\nSome records:\n{records}\n\n"
        f"What users come with: {intent.text}\nWrite {shop.counts.tasks} tasks."
    )
    return await _ask(
        shop, domain, SYSTEM, text, stage=STAGE, place=intent.place, difficulty=1,
        most=shop.counts.tasks,
    )  # fmt: skip


async def _harden(shop: Workshop, domain: Domain, task: DomainTask) -> _Replied:
    records = excerpt(domain.database, seed=task.id, num_records=shop.counts.shown_records)
    shown = json.dumps(as_form(task), ensure_ascii=False)
    text = f"{catalogue(domain)}\n\nSome records:\n{records}\n\nThe task:\n{shown}"
    return await _ask(
        shop, domain, EVOLVING, text, stage=EVOLUTION, place=task.id,
        difficulty=task.difficulty + 1, most=1,
    )  # fmt: skip


async def _ask(
    shop: Workshop,
    domain: Domain,
    system: str,
    text: str,
    *,
    stage: str,
    place: str,
    difficulty: int,
    most: int,
) -> _Replied:
    def take(item: Any, where: str) -> DomainTask:
        return take_task(domain, item, where, difficulty=difficulty)

    asked = await shop.writer.ask(
        system,
        text,
        lambda said: read_list(said, "tasks", take),
        json_schema=task_schema(list(domain.functions)),
    )
    if asked.value is None:
        return place, (), [unreadable(stage, place, asked.fault, asked.said)]
    return place, asked.value.items[:most], rejections_of(stage, place, asked.value.refused)
