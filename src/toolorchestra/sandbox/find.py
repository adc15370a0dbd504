"""Finds out how programs can be confined on this machine, by trying it."""

import logging
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from toolorchestra.sandbox.command import Launch, free_uids, run_command
from toolorchestra.sandbox.config import RUN_WITHOUT_SANDBOX, SandboxConfig
from toolorchestra.sandbox.python import Python, find_python
from toolorchestra.sandbox.sandbox import Sandbox
from toolorchestra.sandbox.seccomp import filter_file

_LOG = logging.getLogger(__name__)

_PROBE = """
import os, signal
first, num_children = os.getpid(), 0
try:
    while num_children < 100 and os.fork():
        num_children += 1
    if os.getpid() != first:
        signal.pause()
except OSError:
    print("bounded")
"""
_PROBE_PROCESSES = 8
_SYSCTLS = (  # file under /proc/sys, value that forbids user namespaces, command that allows them
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


def find_sandbox(config: SandboxConfig) -> Sandbox:
    """Find out how programs can be confined on this machine, by trying it.

    Raises:
        ValueError: If they cannot, with what to install or to set.
    """
    python = find_python(config.python)
    if config.unsafe == RUN_WITHOUT_SANDBOX:
        _LOG.warning(
            "The code interpreter runs without a sandbox: the policy's programs can read and "
            "change all that this user can. Its limit on processes does not bind root."
        )
        return Sandbox(Launch(python=python, isolation="none"), config)
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise _unavailable("bubblewrap is not installed", "install the package bubblewrap")
    reasons = []
    for launch in _candidates(python, bwrap):
        reason = _fault(launch, config)
        if reason is None:
            return Sandbox(launch, config)
        reasons.append(reason)
    raise _unavailable("bubblewrap does not work here: " + "; ".join(reasons), _remedy())


def _candidates(python: Python, bwrap: str) -> list[Launch]:
    told = subprocess.run([bwrap, "--version"], capture_output=True, text=True).stdout
    version = tuple(int(part) for part in re.findall(r"\d+", told)[:2])
    user = Launch(python=python, isolation="user", bwrap=bwrap, can_size_tmpfs=version >= (0, 7))
    if os.geteuid() == 0 and (uids := free_uids()):
        return [replace(user, isolation="root", uids=uids), user]
    return [user]


def _fault(launch: Launch, config: SandboxConfig) -> str | None:
    """Why programs cannot be confined this way; None if they can, processes bounded."""
    tried = replace(config, max_processes=_PROBE_PROCESSES, is_stateful=False)
    with filter_file() as filter_fd:
        try:
            done = subprocess.run(
                run_command(launch, tried, status_fd=2, seccomp_fd=filter_fd),
                input=f"{len(_PROBE)}\n{_PROBE}",
                capture_output=True,
                text=True,
                timeout=60,
                pass_fds=() if filter_fd is None else (filter_fd,),
                env={},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if done.stderr.startswith("ready"):
        return None if "bounded" in done.stdout else "the number of processes cannot be limited"
    return done.stderr.strip()[-300:] or f"exit code {done.returncode}"


def _remedy() -> str:
    for name, forbidding, command in _SYSCTLS:
        path = Path("/proc/sys") / name
        if path.exists() and path.read_text().strip() == forbidding:
            return f"as root, run: {command}"
    if os.geteuid() == 0:
        return "run as an ordinary user, or give this container the capability SYS_ADMIN"
    return "allow unprivileged user namespaces"


def _unavailable(fault: str, remedy: str) -> ValueError:
    return ValueError(
        f"No sandbox for the code interpreter: {fault}; {remedy}. To run programs unconfined all "
        f'the same, set the option unsafe to "{RUN_WITHOUT_SANDBOX}".'
    )
