"""apptainer's options, for clusters that forbid user namespaces but run containers.

A container of apptainer belongs to the user, without a user id or a user namespace of its own. The
system call filter and all limits are therefore set by the runner inside, as it does everywhere.
"""

from __future__ import annotations

from pathlib import Path

import psutil

from toolorchestra.sandbox.bubblewrap import numeric_threads
from toolorchestra.sandbox.launch import Launch

_OPTIONS = (
    "--containall",  # own /tmp, /dev, processes and shared memory; no host folders, no variables
    "--cleanenv",
    "--no-home",
    "--no-mount", "home,cwd,hostfs,bind-paths",  # what the administrator mounts by default
    "--net", "--network", "none",
    "--uts", "--hostname", "sandbox",
    "--no-privs",
    "--no-umask",
    "--no-eval",
)  # fmt: skip


def apptainer_command(launch: Launch, inner: list[str]) -> list[str]:
    """The command line that runs `inner` in a container whose image cannot be written."""
    variables = [f"{name}={value}" for name, value in numeric_threads().items()]
    settings = [word for variable in variables for word in ("--env", variable)]
    return [
        launch.apptainer, "--silent", "exec", *_OPTIONS, *settings, "--pwd", "/tmp", launch.image,
        *inner,
    ]  # fmt: skip


def namespace_init(pid: int) -> int | None:
    """The first process of a process namespace below `pid`: with it, all others of it end."""
    depth = len(_namespace_pids(psutil.Process().pid))
    for child in psutil.Process(pid).children(recursive=True):
        pids = _namespace_pids(child.pid)
        if len(pids) > depth and pids[-1] == "1":
            return child.pid
    return None


def _namespace_pids(pid: int) -> list[str]:
    """The process's ids, from this namespace to its innermost."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # It ended meanwhile.
        return []
    return next((line.split()[1:] for line in lines if line.startswith("NSpid:")), [])
