"""How programs are started on this machine: what finding the sandbox finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toolorchestra.sandbox.python import Python

Isolation = Literal["root", "user", "apptainer", "none"]
"""root: bubblewrap as root, then a fresh unprivileged user id; user: bubblewrap with a user
namespace; apptainer: a container of an image; none: a plain process."""

TEMPORARY_BYTES = 64 << 20
"""Size of /tmp and of /dev/shm inside, and of the largest file."""

WORK_FOLDER = "/tmp/work"
"""Where programs start and find files, inside."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How programs are started on this machine."""

    python: Python
    isolation: Isolation
    bwrap: str = ""
    """Path of bubblewrap."""
    apptainer: str = ""
    """Path of apptainer."""
    image: str = ""
    """What apptainer runs."""
    uids: range = range(0)
    """User ids to draw from, for isolation "root"."""
    can_size_tmpfs: bool = True
    """False before bubblewrap 0.7: /tmp is read-only then, lest a program fill the memory."""

    @property
    def is_bubblewrap(self) -> bool:
        """Whether bubblewrap confines."""
        return self.isolation in ("root", "user")
