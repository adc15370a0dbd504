"""Training and held-out tasks never meet: a digest of what a task is about decides its side.

The rule looks at the task alone, so that it holds between any seeds, skills and runs.
"""

from __future__ import annotations

import hashlib
from typing import Literal

Split = Literal["train", "heldout"]

SPLITS: tuple[Split, ...] = ("train", "heldout")

NUM_PARTS = 5
"""One part in so many is held out where no file says what is."""


def digest(key: str) -> int:
    """A number from 0 to 2**32 - 1 that is the same in every process, unlike `hash`."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=4).digest(), "big")


def long_digest(key: str) -> int:
    """A number from 0 to 2**64 - 1: no two of millions of keys are likely to share it."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def side_of(key: str, *, num_parts: int = 2) -> Split:
    """The side of everything that shares `key`; one part in `num_parts` is held out."""
    return "heldout" if digest(key) % num_parts == 0 else "train"
