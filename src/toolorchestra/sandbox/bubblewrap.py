"""bubblewrap's options: which namespaces a program gets and which files it sees."""

from __future__ import annotations

import os
from pathlib import Path

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.launch import TEMPORARY_BYTES, WORK_FOLDER, Launch

_SANDBOX_UID = 65534
_NUMERIC_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def bubblewrap_options(
    launch: Launch, config: SandboxConfig, *, info_fd: int | None, seccomp_fd: int | None
) -> list[str]:
    """All options that stand before the program.

    Args:
        launch: How programs are started here.
        config: The limits.
        info_fd: Inherited descriptor to which bubblewrap writes the process id of the sandbox.
        seccomp_fd: Inherited descriptor from which bubblewrap reads the filter.
    """
    options = [*_namespaces(launch), *_variables(launch), *_files(launch, config)]
    if info_fd is not None:
        options += ["--info-fd", str(info_fd)]
    if seccomp_fd is not None:
        options += ["--seccomp", str(seccomp_fd)]
    return options


def numeric_threads() -> dict[str, str]:
    """Variables that keep numerical libraries from starting a thread for every core."""
    return dict.fromkeys(_NUMERIC_THREADS, "1")


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


def _variables(launch: Launch) -> list[str]:
    if not launch.python.has_packages:
        return []
    return [word for item in numeric_threads().items() for word in ("--setenv", *item)]


def _files(launch: Launch, config: SandboxConfig) -> list[str]:
    options = ["--ro-bind", "/usr", "/usr", "--ro-bind-try", *["/etc/ld.so.cache"] * 2]
    for path in ("/bin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    options += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for path in ("/tmp", "/dev/shm"):
        if launch.can_size_tmpfs:
            options += _tmpfs(path, TEMPORARY_BYTES)
        else:
            options += ["--tmpfs", path]
    for path in launch.python.paths:  # After /tmp, where an environment may lie.
        # bubblewrap would give them the modes of the originals, e.g. 0700 for root's home.
        for parent in reversed(Path(path).parents[:-1]):
            options += ["--dir", str(parent)]
        options += ["--ro-bind", path, path]
    if not launch.can_size_tmpfs:
        options += ["--remount-ro", "/tmp", "--remount-ro", "/dev/shm"]
    if config.work_mb:
        options += [*_tmpfs(WORK_FOLDER, config.work_mb << 20), "--chdir", WORK_FOLDER]
    else:
        options += ["--chdir", "/tmp"]
    return [*options, "--remount-ro", "/"]


def _tmpfs(path: str, num_bytes: int) -> list[str]:
    return ["--perms", "1777", "--size", str(num_bytes), "--tmpfs", path]
