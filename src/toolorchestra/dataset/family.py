"""What a family of tasks is: a function from a random generator to a draft of a task."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from toolorchestra.types import Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A task before it has an id and a skill."""

    question: str
    answer: str
    answer_kind: str
    key: str
    """What the task is about: drafts that share it lie on the same side of the split."""
    metadata: Json = field(default_factory=dict)


Family = Callable[[random.Random], Draft]
