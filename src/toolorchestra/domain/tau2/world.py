"""A domain of the package with its records read once: environments and tasks come from here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from toolorchestra.domain.tau2.database import digest, own_model
from toolorchestra.domain.tau2.names import TaskSet
from toolorchestra.domain.tau2.package import tau2_module


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """What environments of one domain share."""

    make: Callable[..., Any]
    """The package's own constructor, which takes the records."""
    first: Any
    """An environment that nobody plays in: the records as they were read, the rules, the tools."""

    def environment(self, solo_mode: bool = False) -> Any:
        """A fresh environment before any task has begun, in the place of the package's own.

        Args:
            solo_mode: Never, here; the package's evaluators pass it on.
        """
        assert not solo_mode, "there is always a user"
        kits = {"db": "tools"} | ({"user_db": "user_tools"} if self.first.user_tools else {})
        shared = {key: getattr(self.first, kit).db for key, kit in kits.items()}
        world = self.make(**{key: own_model(records) for key, records in shared.items()})
        for key, kit in kits.items():
            tools = getattr(world, kit)
            tools.get_db_hash = partial(_hash, tools, shared[key])
        return world


def _hash(tools: Any, shared: Any) -> str:
    return digest(tools.db, shared)


def load_world(package: str) -> World:
    """Reads the records of a domain."""
    make = tau2_module(f"domains.{package}.environment").get_environment
    return World(make=make, first=make())


def load_tasks(task_set: TaskSet) -> tuple[Sequence[Any], str]:
    """The package's tasks in the order of their file, and the SHA-256 of that file."""
    name = f"{task_set.package.upper()}_TASK_SET_PATH"
    path = Path(getattr(tau2_module(f"domains.{task_set.package}.utils"), name))
    content = path.read_bytes()
    splits = json.loads(path.with_name(f"split_{path.name}").read_text(encoding="utf-8"))
    chosen = set(splits[task_set.split])
    read = tau2_module("data_model.tasks").Task.model_validate
    tasks = [read(task) for task in json.loads(content) if task["id"] in chosen]
    return tasks, sha256(content).hexdigest()
