"""Finds out how programs can be confined on this machine, by trying it."""

import logging
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from toolorchestra.sandbox.check import check_inside
from toolorchestra.sandbox.command import environment, request, run_command
from toolorchestra.sandbox.config import RUN_WITHOUT_SANDBOX, SandboxConfig
from toolorchestra.sandbox.launch import Launch
from toolorchestra.sandbox.python import Python, find_python
from toolorchestra.sandbox.sandbox import Sandbox
from toolorchestra.sandbox.seccomp import filter_file
from toolorchestra.sandbox.user_limit import free_uids, process_limit

_LOG = logging.getLogger(__name__)
_MIN_SIZED = (0, 7)
"""First version of bubblewrap that bounds a tmpfs."""

_PROBE = """
import os, signal
first, num_children = os.getpid(), 0
try:
    while num_children < {most} and os.fork():
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


class _Unavailable(Exception):
    """A backend that does not work here: what is wrong, and what to do."""


def find_sandbox(config: SandboxConfig) -> Sandbox:
    """Find out how the code interpreter's programs can be confined on this machine, by trying it.

    Raises:
        ValueError: If they cannot, with what to install or to set; or if the interpreter lacks a
            required package there.
    """
    launch = find_launch(config, runs="the code interpreter")
    check_inside(launch, config)
    return Sandbox(launch, config)


def find_launch(config: SandboxConfig, *, runs: str) -> Launch:
    """Find out how programs can be confined on this machine, by trying it.

    Args:
        config: The limits.
        runs: Whose programs they are, for messages.

    Raises:
        ValueError: If they cannot, with what to install or to set.
    """
    if config.unsafe == RUN_WITHOUT_SANDBOX:
        _LOG.warning(
            f"Programs of {runs} run without a sandbox: they can read and change all that this "
            "user can. Their limit on processes does not bind root."
        )
        return Launch(python=find_python(config.python), isolation="none")
    faults = []
    for backend in _tried(config):
        try:
            return _bubblewrap(config) if backend == "bubblewrap" else _apptainer(config)
        except _Unavailable as error:
            faults.append(str(error))
    if config.backend == "auto" and not config.image:
        faults.append(
            "or, where a cluster runs containers but allows no user namespaces, set the option "
            "image to an image with Python for apptainer"
        )
    raise ValueError(
        f"No sandbox for {runs}: {'; '.join(faults)}. To run programs unconfined all "
        f'the same, set the option unsafe to "{RUN_WITHOUT_SANDBOX}".'
    )


def _tried(config: SandboxConfig) -> tuple[str, ...]:
    if config.backend == "auto":
        return ("bubblewrap", "apptainer") if config.image else ("bubblewrap",)
    return (config.backend,)


def _bubblewrap(config: SandboxConfig) -> Launch:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise _Unavailable("bubblewrap is not installed; install the package bubblewrap")
    try:
        python = find_python(config.python)
    except ValueError as error:
        if not config.image:
            raise
        raise _Unavailable(str(error)) from None
    reasons = []
    for launch in _candidates(python, bwrap):
        reason = _fault(launch, config)
        if reason is None and config.work_mb and not launch.can_size_tmpfs:
            raise _Unavailable(
                "work_mb needs bubblewrap 0.7, which can bound a folder; install a newer one, or "
                "set work_mb to 0"
            )
        if reason is None:
            return launch
        reasons.append(reason)
    fault = "; ".join(reasons)
    raise _Unavailable(f"bubblewrap does not work here: {fault}; {_remedy()}")


def _candidates(python: Python, bwrap: str) -> list[Launch]:
    told = subprocess.run([bwrap, "--version"], capture_output=True, text=True).stdout
    version = tuple(int(part) for part in re.findall(r"\d+", told)[:2])
    user = Launch(
        python=python, isolation="user", bwrap=bwrap, can_size_tmpfs=version >= _MIN_SIZED
    )
    if os.geteuid() == 0 and (uids := free_uids()):
        return [replace(user, isolation="root", uids=uids), user]
    return [user]


def _apptainer(config: SandboxConfig) -> Launch:
    apptainer = shutil.which("apptainer")
    if apptainer is None:
        raise _Unavailable("apptainer is not installed; load its module or install it")
    if not os.path.exists(config.image):
        raise _Unavailable(
            f"there is no image {config.image}; make one with: apptainer pull {config.image} "
            "docker://python:3.11-slim"
        )
    if config.work_mb:
        raise _Unavailable("apptainer bounds no folder; set work_mb to 0 to use it")
    launch = Launch(
        python=Python(executable=config.python or "python3", paths=(), has_packages=True),
        isolation="apptainer",
        apptainer=apptainer,
        image=config.image,
    )
    if reason := _fault(launch, config):
        raise _Unavailable(
            f"apptainer does not work here: {reason}; try by hand: apptainer exec --containall "
            f"--net --network none {config.image} {launch.python.executable} --version"
        )
    return launch


def _fault(launch: Launch, config: SandboxConfig) -> str | None:
    """Why programs cannot be confined this way; None if they can, processes bounded."""
    tried = replace(config, max_processes=_PROBE_PROCESSES, is_stateful=False)
    limit = process_limit(launch, tried)
    code = _PROBE.format(most=limit + _PROBE_PROCESSES).encode()
    probe = request(code, process_limit=limit, owns_namespace=False)
    with filter_file() as filter_fd:
        try:
            done = subprocess.run(
                run_command(launch, tried, status_fd=2, seccomp_fd=filter_fd),
                input=probe,
                capture_output=True,
                timeout=60,
                pass_fds=() if filter_fd is None else (filter_fd,),
                env=environment(launch),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    told = done.stderr.decode("utf-8", "replace")
    if "ready\n" in told:
        is_bounded = b"bounded" in done.stdout
        return None if is_bounded else "the number of processes cannot be limited"
    return told.strip()[-300:] or f"exit code {done.returncode}"


def _remedy() -> str:
    for name, forbidding, command in _SYSCTLS:
        path = Path("/proc/sys") / name
        if path.exists() and path.read_text().strip() == forbidding:
            return f"as root, run: {command}"
    if os.geteuid() == 0:
        return "run as an ordinary user, or give this container the capability SYS_ADMIN"
    return "allow unprivileged user namespaces"
