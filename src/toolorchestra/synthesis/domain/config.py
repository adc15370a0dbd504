"""How much of a synthesised domain is asked for, as the user says it in `conf/domain.yaml`."""

from __future__ import annotations

from dataclasses import dataclass, fields

from toolorchestra.synthesis.config import AskedModel


@dataclass(kw_only=True)
class CountsConfig:
    """Counts for each stage."""

    subjects: int = 6
    """What the domain is about in the main: each gets its own intents."""
    records: int = 40
    """Of a collection, at most; the writer says how many it is to have."""
    batch_size: int = 20
    """Records that one request asks for, or has judged."""
    functions: int = 20
    min_functions: int = 5
    """With fewer that work, the run ends."""
    intents: int = 10
    """For each subject."""
    tasks: int = 3
    """For each intent."""
    evolutions: int = 1
    """How often a task is made harder; each time another task comes of it. May be 0."""
    shown_records: int = 12
    """Of each collection, that the writer of a task sees, and those that they refer to."""

    def __post_init__(self) -> None:
        for one in fields(self):
            least = 0 if one.name == "evolutions" else 1
            if getattr(self, one.name) < least:
                raise ValueError(
                    f"counts.{one.name}: {getattr(self, one.name)} is not allowed; use a whole "
                    f"number from {least}"
                )
        if self.min_functions > self.functions:
            raise ValueError(
                f"counts.min_functions: {self.min_functions} is not allowed with {self.functions} "
                "functions; use fewer"
            )


@dataclass(kw_only=True)
class SolverConfig(AskedModel):
    """The model that shows that a task can be solved."""

    attempts: int = 8
    """At each task; the first that solves it is the last (the paper: pass@8)."""
    max_turns: int = 30
    """Replies in one attempt."""

    def __post_init__(self) -> None:
        self.check("solver")
        for key in ("attempts", "max_turns"):
            if getattr(self, key) < 1:
                raise ValueError(
                    f"solver.{key}: {getattr(self, key)} is not allowed; use a whole number from 1"
                )
