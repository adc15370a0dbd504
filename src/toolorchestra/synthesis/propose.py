"""Preference pairs by models, as in the paper (section 3.3): one proposes them, another validates.

Batches are asked for at once, but judged in their order, so that the same replies always make the
same table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from toolorchestra.dataset.split import side_of
from toolorchestra.preference.table import Admission, Pair, Split, normalised
from toolorchestra.provider.base import ChatModel
from toolorchestra.synthesis.ask import NUM_REPAIRS, ask
from toolorchestra.synthesis.config import AskedConfig
from toolorchestra.synthesis.jobs import run_all
from toolorchestra.synthesis.pair_reply import Batch, Rejection, Verdict, read_batch, read_verdict
from toolorchestra.synthesis.pair_request import (
    VERDICT_SCHEMA,
    proposal_request,
    proposal_schema,
    validation_request,
)
from toolorchestra.types import Preference


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """Whom to ask, about what, and how much."""

    proposer: ChatModel
    validator: ChatModel
    proposer_config: AskedConfig
    validator_config: AskedConfig
    account: str
    """The toolset with its prices and latencies."""
    tools: tuple[str, ...]
    kinds: tuple[str, ...]
    num_batches: int
    """Of each kind."""
    batch_size: int
    eval_parts: int
    """One pair in so many is for evaluation."""
    max_concurrent: int
    deadline_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """What came of it all."""

    pairs: tuple[Pair, ...]
    rejections: tuple[Rejection, ...]


async def propose(asking: Asking) -> Table:
    """Has pairs proposed and validated.

    Raises:
        NotAnswered: A model could not be asked; the others' replies are kept.
    """
    jobs = [(kind, n + 1) for kind in asking.kinds for n in range(asking.num_batches)]
    batches = await run_all(
        [partial(_batch, asking, kind, number) for kind, number in jobs],
        max_concurrent=asking.max_concurrent,
    )
    admission, candidates = Admission(asking.tools), list[tuple[str, Preference]]()
    rejections = [rejection for batch in batches for rejection in batch.rejections]
    for place, wish in (item for batch in batches for item in batch.wishes):
        try:
            admission.admit(wish, place)
        except ValueError as error:
            rejections.append(_rejection(place, wish, str(error)))
        else:
            candidates.append((place, wish))
    verdicts = await run_all(
        [partial(_verdict, asking, wish) for _, wish in candidates],
        max_concurrent=asking.max_concurrent,
    )
    pairs = []
    for (place, wish), verdict in zip(candidates, verdicts, strict=True):
        if verdict.is_consistent:
            pairs.append(Pair(split=_split(wish, asking.eval_parts), preference=wish))
        else:
            rejections.append(_rejection(place, wish, f"validator: {verdict.reason}"))
    return Table(pairs=tuple(pairs), rejections=tuple(rejections))


async def _batch(asking: Asking, kind: str, number: int) -> Batch:
    place = f"{kind}-{number}"
    asked = await ask(
        asking.proposer,
        asking.proposer_config,
        proposal_request(
            asking.account,
            kind,
            number=number,
            num_batches=asking.num_batches,
            size=asking.batch_size,
        ),
        lambda said: read_batch(said, kind=kind, place=place, tools=asking.tools),
        deadline_s=asking.deadline_s,
        num_repairs=NUM_REPAIRS,
        json_schema=proposal_schema(asking.tools),
    )
    if asked.value is not None:
        return asked.value
    nothing = Rejection(kind=kind, place=place, reason=asked.fault, said="")
    return Batch(wishes=(), rejections=(nothing,))


async def _verdict(asking: Asking, wish: Preference) -> Verdict:
    asked = await ask(
        asking.validator,
        asking.validator_config,
        validation_request(asking.account, wish),
        read_verdict,
        deadline_s=asking.deadline_s,
        num_repairs=NUM_REPAIRS,
        json_schema=VERDICT_SCHEMA,
    )
    if asked.value is not None:
        return asked.value
    return Verdict(reason=f"no verdict that can be read: {asked.fault}", is_consistent=False)


def _split(wish: Preference, parts: int) -> Split:
    """By a digest of the words: a pair stays on its side, whatever else is proposed later."""
    side = side_of(normalised(wish.instruction), num_parts=parts)
    return "eval" if side == "heldout" else "train"


def _rejection(place: str, wish: Preference, reason: str) -> Rejection:
    return Rejection(kind=wish.kind, place=place, reason=reason, said=wish.instruction)
