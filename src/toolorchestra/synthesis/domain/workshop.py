"""What all stages share: whom to ask, how much to ask for, and where results go."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from toolorchestra.codec import to_json
from toolorchestra.provider.base import ChatModel
from toolorchestra.synthesis.ask import NUM_REPAIRS, Asked, Reading, ask
from toolorchestra.synthesis.config import AskedConfig, AskedModel
from toolorchestra.synthesis.domain.config import CountsConfig, SolverConfig
from toolorchestra.synthesis.domain.rejection import Rejection
from toolorchestra.synthesis.jobs import run_all
from toolorchestra.types import Json

T = TypeVar("T")

log = logging.getLogger(__name__)


class NothingUsable(ValueError):
    """A stage left too little for the next one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """A model, and how it is asked."""

    model: ChatModel
    config: AskedModel
    deadline_s: float

    async def ask(
        self, system: str, text: str, read: Callable[[str], Reading[T]], *, json_schema: Json
    ) -> Asked[T]:
        """See `toolorchestra.synthesis.ask`."""
        config = AskedConfig(model=self.config.model, system=system, limits=self.config.limits)
        return await ask(
            self.model,
            config,
            text,
            read,
            deadline_s=self.deadline_s,
            num_repairs=NUM_REPAIRS,
            json_schema=json_schema,
        )


class Journal:
    """What each stage took, a file a stage, and what none did."""

    def __init__(self, write: Callable[[str, str], None]) -> None:
        """Takes what writes a file, given its name and its text."""
        self._write = write
        self.rejections: list[Rejection] = []

    def note(self, name: str, items: Iterable[Any]) -> None:
        """Writes down what is neither taken nor rejected."""
        self._write(f"{name}.jsonl", to_lines(items))

    def close(self, stage: str, taken: Sequence[Any], rejections: Iterable[Rejection]) -> None:
        """Writes down what came of a stage."""
        rejections = list(rejections)
        self.rejections += rejections
        self.note(stage, taken)
        self._write("rejections.jsonl", to_lines(self.rejections))
        for one in rejections:
            log.info("rejected %s: %s", one.place, " ".join(one.reason.split()))
        log.info("%s: %d taken, %d rejected", stage, len(taken), len(rejections))


def to_lines(items: Iterable[Any]) -> str:
    """Records or JSON values as JSON Lines."""
    return "".join(json.dumps(to_json(one), ensure_ascii=False) + "\n" for one in items)


@dataclass(frozen=True, kw_only=True, slots=True)
class Workshop:
    """Where a domain is made."""

    name: str
    """Of the domain."""
    subject: str
    """What the user says of it; may be empty."""
    writer: Asker
    validator: Asker
    solver: SolverConfig
    solver_at: Callable[[int], Asker]
    """The solver for an attempt, by its number from 1."""
    counts: CountsConfig
    max_concurrent: int
    journal: Journal

    async def all(self, stage: str, jobs: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """All results in order, see `run_all`; says how far a stage is at each tenth of it."""
        num_done, step = 0, max(1, -(-len(jobs) // 10))

        async def counted(job: Callable[[], Awaitable[T]]) -> T:
            nonlocal num_done
            result = await job()
            num_done += 1
            if num_done % step == 0:
                log.info("%s: %d of %d", stage, num_done, len(jobs))
            return result

        return await run_all(
            [partial(counted, job) for job in jobs], max_concurrent=self.max_concurrent
        )

    async def must(
        self,
        stage: str,
        system: str,
        text: str,
        read: Callable[[str], Reading[T]],
        *,
        json_schema: Json,
    ) -> T:
        """What the writer says, without which nothing can go on; see `Asker.ask`.

        Raises:
            NotAnswered: The model could not be asked.
            NothingUsable: No reply can be used.
        """
        ask_once = partial(self.writer.ask, system, text, read, json_schema=json_schema)
        (asked,) = await self.all(stage, [ask_once])
        if asked.value is None:
            raise NothingUsable(
                f"{stage}: {self.writer.config.model} wrote nothing that can be used "
                f"({' '.join(asked.fault.split())}); use another writer.model, with another out"
            )
        return asked.value
