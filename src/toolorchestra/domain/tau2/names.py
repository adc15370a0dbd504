"""What the domains of tau2-bench are called here; known without the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PREFIX = "tau2/"
"""No other domain's name can begin with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskSet:
    """Some of the tasks of one of its domains."""

    package: str
    """The domain, as it is called there."""
    split: str
    """A list of `split_tasks.json`."""


TASK_SETS: Mapping[str, TaskSet] = {
    "airline": TaskSet(package="airline", split="base"),
    "retail": TaskSet(package="retail", split="base"),
    "telecom": TaskSet(package="telecom", split="base"),
    "telecom_small": TaskSet(package="telecom", split="small"),
}
"""As tau2-bench's own runner names them."""


def is_tau2(domain: str) -> bool:
    """Whether a domain of that name is one of tau2-bench's."""
    return domain.startswith(PREFIX)
