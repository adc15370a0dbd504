"""What is made of the replies of the models that propose and validate preference pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolorchestra.codec import from_json
from toolorchestra.preference.table import Admission, tells_apart
from toolorchestra.preference.vector import check_vector
from toolorchestra.synthesis.ask import Reading, json_of
from toolorchestra.synthesis.listed import AGAIN, read_list
from toolorchestra.synthesis.pair_request import ABOUT_TOOLS
from toolorchestra.types import Preference

MAX_WORDS = 40
"""Of an instruction, which a policy reads in an episode."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """The weight of one tool."""

    tool: str
    weight: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposed:
    """A pair as a model writes it."""

    instruction: str
    outcome: float
    cost: float
    latency: float
    tools: tuple[Weight, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the validator says of a pair."""

    reason: str
    is_consistent: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """What was not taken, where it stood, and why."""

    kind: str
    place: str
    reason: str
    said: str
    """The beginning of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """What one reply holds: places and wishes, and what is wrong with the others."""

    wishes: tuple[tuple[str, Preference], ...]
    rejections: tuple[Rejection, ...]


def read_batch(said: str, *, kind: str, place: str, tools: Sequence[str]) -> Reading[Batch]:
    """The good pairs of a reply; what is wrong with the others is told to the model.

    Args:
        said: The reply.
        kind: Of the pairs that were asked for.
        place: What to call the batch.
        tools: Names of the tools that a vector may weigh.
    """
    admission = Admission(tools)

    def take(item: Any, where: str) -> Preference:
        wish = _wish(item, kind, where, tools)
        admission.admit(wish, where)
        return wish

    reading = read_list(said, "pairs", take)
    if reading.value is None:
        return Reading(value=None, fault=reading.fault)
    wishes = tuple((f"{place}.{where}", wish) for where, wish in reading.value.items)
    rejections = tuple(
        Rejection(kind=kind, place=f"{place}.{one.where}", reason=one.reason, said=one.said)
        for one in reading.value.refused
    )
    return Reading(value=Batch(wishes=wishes, rejections=rejections), fault=reading.fault)


def _wish(item: Any, kind: str, where: str, tools: Sequence[str]) -> Preference:
    proposed = from_json(Proposed, item, where)
    weights = {entry.tool: entry.weight for entry in proposed.tools}
    if len(weights) < len(proposed.tools):
        raise ValueError(f"{where}.tools: a tool is weighed twice")
    num_words = len(proposed.instruction.split())
    if num_words > MAX_WORDS:
        raise ValueError(f"{where}.instruction: {num_words} words; use up to {MAX_WORDS}")
    wish = Preference(
        kind=kind,
        instruction=" ".join(proposed.instruction.split()),
        outcome=proposed.outcome,
        cost=proposed.cost,
        latency=proposed.latency,
        tools=weights,
    )
    check_vector(wish, tools)
    if kind in ABOUT_TOOLS and not (weights and tells_apart(wish, tools)):
        raise ValueError(f"{where}.tools: a wish about tools is to weigh some unlike others")
    return wish


def read_verdict(said: str) -> Reading[Verdict]:
    """The validator's verdict."""
    try:
        return Reading(value=from_json(Verdict, json_of(said), "verdict"))
    except ValueError as error:
        return Reading(value=None, fault=f"{error}. {AGAIN}")
