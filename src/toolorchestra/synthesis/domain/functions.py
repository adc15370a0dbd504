"""The domain's functions: the sixth stage. Each is written, and tried out on its own in the
sandbox; what is wrong with it is told to its writer."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.fault import BadDomain, DomainBug
from toolorchestra.domain.untrusted.load import load_untrusted
from toolorchestra.synthesis.ask import Reading, check_writable, record_of
from toolorchestra.synthesis.domain.code import code_problem, functions_file
from toolorchestra.synthesis.domain.entries import Records
from toolorchestra.synthesis.domain.folder import files_of
from toolorchestra.synthesis.domain.outline import Outline, Planned, account
from toolorchestra.synthesis.domain.rejection import Rejection
from toolorchestra.synthesis.domain.schema import Design
from toolorchestra.synthesis.domain.subjects import Plan
from toolorchestra.synthesis.domain.trial import Example, trial_problem
from toolorchestra.synthesis.domain.workshop import NothingUsable, Workshop
from toolorchestra.synthesis.json_form import TEXT, YES_NO, list_of, object_of
from toolorchestra.synthesis.listed import AGAIN

STAGE = "functions"
SYSTEM = """
You write one Python function of a domain. It is `def NAME(db: Database, ...) -> ...:` with a
docstring that says what it does, and under "Args:" a line "argument: what it is" for each argument
but db. Arguments are annotated str, int, bool, Decimal (money), datetime.date, a Literal of texts,
or a list of these; an optional one is `X | None = None`. It gives a JSON value. datetime, json,
math, re, Decimal, Any, Literal, DomainError, money, money_text and new_key are imported; other
imports and helpers go into the function. It is deterministic: no clock, no randomness, no files,
no network; today's date is a record's.

The database: db.get(collection, key) gives a copy of a record, and fails where there is none;
db.has(collection, key); db.count(collection); db.where(collection, matching=None, /, field=value)
gives copies of the records that equal, sorted by key, with `matching` a function of a record;
db.add(collection, record); db.update(collection, key, field=value); db.remove(collection, key).
new_key(db, collection, letter) gives a key that is free, such as "R8". Money in records is decimal
text: money(text) gives a Decimal, money_text(amount) a text. A date is text as "2031-05-14". What
the caller did wrong, or the rules forbid, raises DomainError with a sentence that says why.

Give examples too: calls on the records shown, at least one that succeeds and, where there is
something to refuse, one that fails. "arguments" is a JSON object as text. Reply with JSON alone:
{"code": "def ...", "examples": [{"arguments": "{...}", "works": true}]}.
"""
SCHEMA = object_of(
    {"code": TEXT, "examples": list_of(object_of({"arguments": TEXT, "works": YES_NO}))}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _ExampleForm:
    arguments: str
    works: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    code: str
    examples: tuple[_ExampleForm, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A function that works."""

    name: str
    code: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """What functions are tried out on."""

    about: Plan
    design: Design
    records: Records
    outline: Outline

    def domain(self, codes: Mapping[str, str]) -> Domain:
        """The domain with these functions, which run in the sandbox; it has no tasks yet.

        Raises:
            BadDomain: It cannot be loaded.
        """
        files = files_of(
            self.design.value,
            self.records,
            policy=self.outline.policy,
            functions=functions_file(codes),
        )
        with tempfile.TemporaryDirectory(prefix="toolorchestra-domain-") as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            return load_untrusted(Path(folder), name="domain", has_tasks=False)


def request(bench: Bench, planned: Planned) -> str:
    """Asks for one function."""
    others = "\n".join(f"- {one.name}: {one.purpose}" for one in bench.outline.functions)
    return (
        f"{account(bench.about, bench.design, bench.records)}\n\nRules:\n{bench.outline.policy}\n\n"
        f"All functions:\n{others}\n\n"
        f"Write {planned.name}: {planned.purpose} It "
        f"{'changes records' if planned.is_write else 'only looks up'}."
    )


def arguments_of(text: str, where: str) -> dict[str, Any]:
    """The arguments of a call, which stand in a reply as JSON text.

    Raises:
        ValueError: They are no object.
    """
    try:
        value = json.loads(text)
        check_writable(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: is no JSON text ({error})") from error
    if not isinstance(value, dict):
        raise ValueError(f"{where}: is no object as JSON text")
    return value


def read(said: str, bench: Bench, planned: Planned) -> Reading[Written]:
    """The function of a reply, if it works."""
    try:
        form = record_of(_Form, said)
        examples = [
            Example(
                arguments=arguments_of(one.arguments, f"examples[{index}].arguments"),
                works=one.works,
            )
            for index, one in enumerate(form.examples)
        ]
    except ValueError as error:
        return Reading(value=None, fault=f"{error}. {AGAIN}")
    problem = code_problem(form.code, planned.name) or _tried(bench, planned, form.code, examples)
    if problem is not None:
        return Reading(value=None, fault=f"{problem}\n{AGAIN}")
    return Reading(value=Written(name=planned.name, code=form.code))


def _tried(bench: Bench, planned: Planned, code: str, examples: list[Example]) -> str | None:
    try:
        domain = bench.domain({planned.name: code})
        return trial_problem(domain, planned.name, examples, is_write=planned.is_write)
    except (BadDomain, DomainBug) as error:
        return str(error)


async def write_functions(shop: Workshop, bench: Bench) -> dict[str, str]:
    """The code of the functions that work, by name.

    Raises:
        NothingUsable: Too few do.
    """
    planned = bench.outline.functions
    replies = await shop.all(STAGE, [partial(_ask, shop, bench, one) for one in planned])
    written = [one for one in replies if isinstance(one, Written)]
    shop.journal.close(STAGE, written, [one for one in replies if isinstance(one, Rejection)])
    if len(written) < shop.counts.min_functions:
        raise NothingUsable(
            f"functions: {len(written)} of {len(planned)} work, and counts.min_functions is "
            f"{shop.counts.min_functions}; use fewer, or another writer.model with another out "
            "(rejections.jsonl says why)"
        )
    return {one.name: one.code for one in written}


async def _ask(shop: Workshop, bench: Bench, planned: Planned) -> Written | Rejection:
    asked = await shop.writer.ask(
        SYSTEM,
        request(bench, planned),
        lambda said: read(said, bench, planned),
        json_schema=SCHEMA,
    )
    if asked.value is not None:
        return asked.value
    return Rejection(
        stage=STAGE,
        place=planned.name,
        kind="broken function",
        reason=asked.fault,
        said=asked.said[:500],
    )
