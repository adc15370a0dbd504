"""Trying out one function on the domain's records, in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolorchestra.domain.difference import digest
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.environment import Environment
from toolorchestra.domain.fault import DomainBug


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """A call, and whether it is to succeed."""

    arguments: Mapping[str, Any]
    works: bool


def trial_problem(
    domain: Domain, name: str, examples: Sequence[Example], *, is_write: bool
) -> str | None:
    """What is wrong with a function, by its examples; None: nothing."""
    if not any(one.works for one in examples):
        return "examples: none is to succeed"
    num_writes = 0
    for number, example in enumerate(examples, start=1):
        place = f"example {number}, {name} {dict(example.arguments)}"
        try:
            first, second = (_tried(domain, name, example) for _ in range(2))
        except DomainBug as bug:
            return f"{place}: {bug}"
        if first.is_ok != example.works:
            word = "fails" if example.works else "succeeds"
            return f"{place}: {word}, and is not to: {first.content[:500]}"
        if first != second:
            return f"{place}: gives another result when it is called again on the same records"
        num_writes += first.num_written > 0
    if is_write and not num_writes:
        return "examples: none of them changes a record"
    if num_writes and not is_write:
        return "examples: one of them changes a record, and the function is only to look up"
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tried:
    is_ok: bool
    content: str
    num_written: int
    digest: str


def _tried(domain: Domain, name: str, example: Example) -> _Tried:
    environment = Environment(domain.database, domain.functions)
    outcome = environment.call(name, example.arguments)
    after = environment.database
    return _Tried(
        is_ok=outcome.is_ok,
        content=outcome.content,
        num_written=len(after.written),
        digest=digest(after),
    )
