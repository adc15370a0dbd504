"""All stages of a domain in their order (section 3.3, Figure 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.task import DomainTask
from toolorchestra.synthesis.domain.code import functions_file
from toolorchestra.synthesis.domain.entries import Records, fill
from toolorchestra.synthesis.domain.folder import files_of
from toolorchestra.synthesis.domain.functions import Bench, write_functions
from toolorchestra.synthesis.domain.intents import name_intents
from toolorchestra.synthesis.domain.outline import outline
from toolorchestra.synthesis.domain.schema import design
from toolorchestra.synthesis.domain.solving import solve
from toolorchestra.synthesis.domain.subjects import Plan, plan
from toolorchestra.synthesis.domain.tasks import Admitted, evolve, write_tasks
from toolorchestra.synthesis.domain.validation import validate
from toolorchestra.synthesis.domain.workshop import Workshop


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A domain as it was made."""

    about: Plan
    schema: Mapping[str, Any]
    records: Records
    policy: str
    codes: Mapping[str, str]
    """Of the functions, by name."""
    tasks: tuple[DomainTask, ...]

    @property
    def num_records(self) -> int:
        """Of all collections."""
        return sum(map(len, self.records.values()))

    def files(self) -> dict[str, str]:
        """Those of the domain's folder."""
        return files_of(
            self.schema,
            self.records,
            policy=self.policy,
            functions=functions_file(self.codes),
            tasks=self.tasks,
        )


async def make(shop: Workshop) -> Made:
    """Makes a domain.

    Raises:
        NotAnswered: Some requests got no reply; those that did are kept.
        NothingUsable: A stage left too little for the next one.
    """
    about = await plan(shop)
    form = await design(shop, about)
    records = await validate(shop, about, form, await fill(shop, about, form))
    rules = await outline(shop, about, form, records)
    bench = Bench(about=about, design=form, records=records, outline=rules)
    codes = await write_functions(shop, bench)
    tasks = await _tasks(shop, about, await asyncio.to_thread(bench.domain, codes))
    return Made(
        about=about,
        schema=form.value,
        records=records,
        policy=rules.policy,
        codes=codes,
        tasks=tuple(tasks),
    )


async def _tasks(shop: Workshop, about: Plan, domain: Domain) -> list[DomainTask]:
    admitted = Admitted(shop.name)
    await write_tasks(shop, domain, await name_intents(shop, about, domain), admitted)
    await evolve(shop, domain, admitted)
    return await solve(shop, domain, admitted.tasks)
