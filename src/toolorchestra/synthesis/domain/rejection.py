"""What was not taken, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolorchestra.synthesis.listed import Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """One thing that a model wrote and that is in no domain."""

    stage: str
    place: str
    """Which request, and where in its reply."""
    kind: str
    """Short, for counting."""
    reason: str
    said: str
    """The beginning of it."""


def rejections_of(stage: str, place: str, refused: Iterable[Refused]) -> list[Rejection]:
    """What a reply held that cannot be used, as rejections."""
    return [
        Rejection(
            stage=stage,
            place=f"{place}.{one.where}",
            kind=one.kind,
            reason=one.reason,
            said=one.said,
        )
        for one in refused
    ]


def unreadable(stage: str, place: str, fault: str, said: str) -> Rejection:
    """Of a reply of which nothing can be used."""
    return Rejection(
        stage=stage, place=place, kind="no usable reply", reason=fault, said=said[:500]
    )
