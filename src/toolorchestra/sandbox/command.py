"""The command lines of the sandbox: which files a program sees, as which user, within which limits.

RLIMIT_NPROC counts per user, and the kernel exempts root from it. Root therefore gives every run a
user id that nobody else has; an ordinary user gets a user namespace, within which kernels from 5.14
on count separately.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.python import Python

Isolation = Literal["root", "user", "none"]
"""root: bubblewrap as root, then a fresh unprivileged user id; user: bubblewrap with a user
namespace; none: a plain process."""

TEMPORARY_BYTES = 64 << 20
"""Size of /tmp and of /dev/shm inside, and of the largest file."""

_SANDBOX_UID = 65534
_FREE_UIDS = range(0x7000_0000, 0x7FFF_0000)
"""User ids that no distribution and no container runtime hands out."""
_NUM_DRAWN = itertools.count(random.randrange(1 << 20))
"""Starts anywhere, so that two trainings on one machine hardly ever meet."""
_RUNNER = Path(__file__).with_name("runner.py").read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How programs are started on this machine."""

    python: Python
    isolation: Isolation
    bwrap: str = ""
    """Path of bubblewrap."""
    uids: range = range(0)
    """User ids to draw from, for isolation "root"."""
    can_size_tmpfs: bool = True
    """False before bubblewrap 0.7: /tmp is read-only then, lest a program fill the memory."""


def run_command(
    launch: Launch,
    config: SandboxConfig,
    *,
    status_fd: int,
    info_fd: int | None = None,
    seccomp_fd: int | None = None,
) -> list[str]:
    """The command line of one interpreter.

    Args:
        launch: How programs are started here.
        config: The limits.
        status_fd: Inherited descriptor of the status channel, see `runner`.
        info_fd: Inherited descriptor to which bubblewrap writes the process id of the sandbox.
        seccomp_fd: Inherited descriptor from which bubblewrap reads the filter.
    """
    uid = _draw_uid(launch.uids) if launch.isolation == "root" else 0
    flags = ["-I", "-B", "-X", "utf8"] + ([] if launch.python.has_packages else ["-S"])
    cpu_s = 0 if config.is_stateful else (math.ceil(config.timeout_s) + 1) * (os.cpu_count() or 1)
    num_others = 0 if _counts_own_processes(launch.isolation) else num_own_tasks()
    limits = (
        uid, config.memory_mb << 20, config.max_processes + num_others, TEMPORARY_BYTES, cpu_s,
        status_fd,
    )  # fmt: skip
    inner = [launch.python.executable, *flags, "-c", _RUNNER, *map(str, limits)]
    inner.append("session" if config.is_stateful else "once")
    if launch.isolation == "none":
        return inner
    options = [*_namespaces(launch), *_files(launch)]
    if info_fd is not None:
        options += ["--info-fd", str(info_fd)]
    if seccomp_fd is not None:
        options += ["--seccomp", str(seccomp_fd)]
    return [launch.bwrap, *options, "--", *inner]


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


def _draw_uid(uids: range) -> int:
    return uids[next(_NUM_DRAWN) % len(uids)]


def _counts_own_processes(isolation: Isolation) -> bool:
    if isolation == "user":
        version = [int(part) for part in re.findall(r"\d+", os.uname().release)[:2]]
        return version >= [5, 14]
    return isolation == "root"


def _namespaces(launch: Launch) -> list[str]:
    shared = ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
    if launch.isolation == "user":
        uid = str(_SANDBOX_UID)
        # bubblewrap's own first process would be of the same user but without limits: a program
        # could rewrite its memory. So the interpreter is the first process itself.
        return [
            "--unshare-all", "--unshare-user", "--as-pid-1", "--uid", uid, "--gid", uid,
            "--cap-drop", "ALL", *shared,
        ]  # fmt: skip
    return [
        "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", *shared,
    ]  # fmt: skip


def _files(launch: Launch) -> list[str]:
    options = ["--ro-bind", "/usr", "/usr", "--ro-bind-try", *["/etc/ld.so.cache"] * 2]
    for path in ("/bin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    for path in launch.python.paths:
        # bubblewrap would give them the modes of the originals, e.g. 0700 for root's home.
        for parent in reversed(Path(path).parents[:-1]):
            options += ["--dir", str(parent)]
        options += ["--ro-bind", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for path in ("/tmp", "/dev/shm"):
        if launch.can_size_tmpfs:
            options += ["--perms", "1777", "--size", str(TEMPORARY_BYTES), "--tmpfs", path]
        else:
            options += ["--tmpfs", path, "--remount-ro", path]
    return [*options, "--chdir", "/tmp", "--remount-ro", "/"]
