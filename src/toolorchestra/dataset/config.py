"""Which tasks a run trains on and is held out on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

KINDS = ("local", "jsonl")

SKILLS = ("math", "logic", "code", "lookup", "multihop", "service")
"""The skills of the local world."""


@dataclass(kw_only=True)
class DatasetConfig:
    """One source of tasks."""

    name: str
    """For tables and file names."""
    kind: str = "local"
    """local: drawn by seed, without end and without a network; jsonl: read from `path`."""
    path: str | None = None
    """File with one task a line; needed by the kind jsonl, and by no other."""
    heldout_path: str | None = None
    """File with the held-out tasks; None: a fixed fifth of `path` is held out, chosen by a digest
    of each question."""
    skills: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SKILLS, 1.0))
    """Relative weight of each skill in the local world; 0 leaves it out."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                f"dataset.kind: {self.kind!r} is not allowed; use {' or '.join(KINDS)}"
            )
        if self.kind == "jsonl" and not self.path:
            raise ValueError(
                f"dataset.path: {self.path!r} is not allowed for the kind jsonl; "
                "use the path of a file of tasks"
            )
        if self.kind == "local" and (self.path or self.heldout_path):
            raise ValueError(
                f"dataset.path: {self.path or self.heldout_path!r} is not allowed for the kind "
                "local, which reads no file; use null, or dataset.kind=jsonl"
            )
        check_skills(self.skills)


def check_skills(skills: Mapping[str, float]) -> None:
    """Raises ValueError unless `skills` weighs known skills, at least one of them above 0."""
    for skill, weight in skills.items():
        if skill not in SKILLS:
            raise ValueError(f"dataset.skills: {skill!r} is not allowed; use {', '.join(SKILLS)}")
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(
                f"dataset.skills.{skill}: {weight} is not allowed; use a finite number from 0 up"
            )
    if not any(skills.values()):
        raise ValueError(
            f"dataset.skills: {skills} is not allowed; use at least one weight above 0"
        )
