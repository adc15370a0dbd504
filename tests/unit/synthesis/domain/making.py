"""A small design and models that say what is planned, to test stages with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.unit.synthesis.test_describe import Writer

from toolorchestra.synthesis.config import AskedModel
from toolorchestra.synthesis.domain.config import CountsConfig, SolverConfig
from toolorchestra.synthesis.domain.schema import Design, read
from toolorchestra.synthesis.domain.subjects import Plan, Subject
from toolorchestra.synthesis.domain.workshop import Asker, Journal, Workshop

PLAN = Plan(about="A desk that lends tools.", subjects=(Subject(name="loans", description="x"),))


def field(name: str, kind: str, **changes: Any) -> dict[str, Any]:
    """A field as a model writes it."""
    return {
        "name": name, "kind": kind, "description": "", "optional": False, "unique": False,
        "volatile": False, "ordered": True, "choices": [], "to": None, "of": None,
    } | changes  # fmt: skip


def collection(
    name: str, *fields: dict[str, Any], key: str = "id", num_records: int = 2
) -> dict[str, Any]:
    """A collection as a model writes it, with the key "id"."""
    return {
        "name": name, "key": key, "description": "", "num_records": num_records,
        "fields": [field("id", "text"), *fields],
    }  # fmt: skip


TOOLS = (
    collection("tools", field("name", "text", unique=True), field("price", "money")),
    collection(
        "loans",
        field("tool", "reference", to="tools"),
        field("note", "text", optional=True),
        num_records=3,
    ),
)


def design_of(*collections: dict[str, Any]) -> Design:
    """The design of these collections."""
    reading = read(json.dumps({"collections": list(collections or TOOLS)}))
    assert reading.value is not None, reading.fault
    return reading.value


def tool(key: str, name: str | None = None, **changes: Any) -> dict[str, Any]:
    return {"id": key, "name": name or f"Tool {key}", "price": "1.00"} | changes


def loan(key: str, tool: str, **changes: Any) -> dict[str, Any]:
    return {"id": key, "tool": tool} | changes


class Written:
    """What a journal was given to write, by name of file."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def lines(self, name: str) -> list[Any]:
        return [json.loads(line) for line in self.files[name].splitlines()]


def workshop(
    *said: str | dict[str, Any],
    validator: Sequence[str | dict[str, Any]] = (),
    solver: Sequence[Sequence[str | dict[str, Any]]] = (),
    attempts: int = 8,
    max_turns: int = 30,
    **counts: int,
) -> tuple[Workshop, Written]:
    """A workshop whose models say what is planned; the solver, for each attempt."""

    def asker(name: str, replies: Sequence[str | dict[str, Any]]) -> Asker:
        texts = [one if isinstance(one, str) else json.dumps(one) for one in replies]
        return Asker(model=Writer(*texts), config=AskedModel(model=name), deadline_s=1.0)

    written = Written()
    tries = [asker("Solver", replies) for replies in solver]
    shop = Workshop(
        name="desk",
        subject="",
        writer=asker("Big", said),
        validator=asker("Other", validator),
        solver=SolverConfig(model="Solver", attempts=attempts, max_turns=max_turns),
        solver_at=lambda number: tries[number - 1],
        counts=CountsConfig(**{"min_functions": 1, **counts}),
        max_concurrent=1,
        journal=Journal(written.files.__setitem__),
    )
    return shop, written


def kinds(shop: Workshop) -> list[tuple[str, str]]:
    """Place and kind of all rejections."""
    return [(one.place, one.kind) for one in shop.journal.rejections]
