"""The command line of one interpreter in the sandbox."""

from __future__ import annotations

import math
import os
from pathlib import Path

from toolorchestra.sandbox.apptainer import apptainer_command
from toolorchestra.sandbox.bubblewrap import bubblewrap_options
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.launch import TEMPORARY_BYTES, Launch
from toolorchestra.sandbox.seccomp import seccomp_filter
from toolorchestra.sandbox.user_limit import draw_uid

_RUNNER = Path(__file__).with_name("runner.py").read_text(encoding="utf-8")


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
    inner = _inner(launch, config, status_fd)
    if launch.isolation == "none":
        return inner
    if launch.isolation == "apptainer":
        return apptainer_command(launch, inner)
    options = bubblewrap_options(launch, config, info_fd=info_fd, seccomp_fd=seccomp_fd)
    return [launch.bwrap, *options, "--", *inner]


def request(code: bytes, *, process_limit: int, owns_namespace: bool) -> bytes:
    """What the runner reads to run code.

    Args:
        code: Python source.
        process_limit: The kernel's limit on processes from now on.
        owns_namespace: Whether all processes that the runner sees are its own.
    """
    return b"%d %d %d\n%b" % (process_limit, owns_namespace, len(code), code)


def environment(launch: Launch) -> dict[str, str]:
    """The variables of the command itself; what is confined sees none of them."""
    if launch.isolation == "apptainer":
        return {"PATH": os.environ.get("PATH", os.defpath)}  # For the programs that it calls.
    return {}  # bubblewrap's own would show in /proc/1/environ.


def _inner(launch: Launch, config: SandboxConfig, status_fd: int) -> list[str]:
    uid = draw_uid(launch.uids) if launch.isolation == "root" else 0
    flags = ["-I", "-B", "-X", "utf8"] + ([] if launch.python.has_packages else ["-S"])
    cpu_s = 0 if config.is_stateful else (math.ceil(config.timeout_s) + 1) * (os.cpu_count() or 1)
    limits = (uid, config.memory_mb << 20, TEMPORARY_BYTES, cpu_s, status_fd)
    inner = [launch.python.executable, *flags, "-c", _RUNNER, *map(str, limits)]
    inner.append("session" if config.is_stateful else "once")
    if launch.isolation == "apptainer":
        inner.append((seccomp_filter() or b"").hex())
    return inner
