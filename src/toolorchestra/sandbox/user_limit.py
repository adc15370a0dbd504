"""How many processes and threads the kernel is told to allow.

RLIMIT_NPROC counts per user, and the kernel exempts root from it. Root therefore gives every run a
user id that nobody else has; an ordinary user gets a user namespace, within which kernels from 5.14
on count separately. Elsewhere what the user runs besides is added, counted when code is handed
over: an interpreter that waited for it may have been started long before.
"""

from __future__ import annotations

import itertools
import os
import random
import re
from pathlib import Path

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.launch import Isolation, Launch

_FREE_UIDS = range(0x7000_0000, 0x7FFF_0000)
"""User ids that no distribution and no container runtime hands out."""
_NUM_DRAWN = itertools.count(random.randrange(1 << 20))
"""Starts anywhere, so that two trainings on one machine hardly ever meet."""


def process_limit(launch: Launch, config: SandboxConfig) -> int:
    """RLIMIT_NPROC that leaves a program `config.max_processes` of its own now."""
    num_others = 0 if _counts_own_processes(launch.isolation) else num_own_tasks()
    return config.max_processes + num_others


def free_uids() -> range:
    """User ids that root may give away: in a container, the highest ones that are mapped."""
    extents = []
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, length = (int(field) for field in line.split())
        extents.append(range(first, first + length))
    if any(_FREE_UIDS[0] in extent and _FREE_UIDS[-1] in extent for extent in extents):
        return _FREE_UIDS
    last = max(extents, key=lambda extent: extent.stop)
    return last[-1000:] if len(last) > 2000 else range(0)


def draw_uid(uids: range) -> int:
    """The next of these ids, in turn."""
    return uids[next(_NUM_DRAWN) % len(uids)]


def num_own_tasks() -> int:
    """Processes and threads of this user on the whole machine."""
    num_tasks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == os.getuid():
                num_tasks += len(os.listdir(folder / "task"))
        except OSError:  # It ended meanwhile.
            continue
    return num_tasks


def _counts_own_processes(isolation: Isolation) -> bool:
    if isolation == "user":
        version = [int(part) for part in re.findall(r"\d+", os.uname().release)[:2]]
        return version >= [5, 14]
    return isolation == "root"
