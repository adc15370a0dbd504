"""Options of the sandbox: how a program is confined, how much it may use, what it may see."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

RUN_WITHOUT_SANDBOX = "run_without_sandbox"

BACKENDS = ("auto", "bubblewrap", "apptainer")

_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True, kw_only=True)
class SandboxConfig:
    """Limits of one run of the code interpreter, and what it is given.

    `memory_mb` bounds each process, so that a run holds at most `max_processes` times as much, plus
    its temporary files.
    """

    timeout_s: float = 10.0
    """Wall-clock seconds a program may run, start-up of the sandbox not included."""
    memory_mb: int = 512
    """Address space of a process in MiB."""
    max_processes: int = 16
    """Processes and threads at one time, the interpreter itself included."""
    max_output_bytes: int = 16384
    """Bytes of standard output, and of standard error, that are kept."""
    is_stateful: bool = False
    """Whether variables live on from call to call of one rollout."""
    unsafe: str = ""
    """"run_without_sandbox": programs are plain processes that see all that this user sees."""
    max_parallel: int = 2
    """Programs that run at one time."""
    warm_workers: int = 0
    """Interpreters that are started ahead and wait for a program, about 10 MB each; 0: none."""
    python: str = ""
    """Interpreter to run, or the folder of its environment, with its installed packages; empty: the
    current one with the standard library only, which starts faster. With apptainer: an interpreter
    inside the image, empty: its python3, packages included."""
    required_packages: tuple[str, ...] = ()
    """Modules that must import inside when the tool is built, e.g. numpy; programs that miss
    another one are told these."""
    work_mb: int = 0
    """MiB of the folder in which programs start, where a task's files come in and what a program
    wrote is listed; 0: no such folder, and no files."""
    files_root: str = ""
    """Folder that the paths among a task's files are relative to; empty: paths are refused."""
    max_files: int = 32
    """Files that may come in, and that are listed after a run."""
    max_text_bytes: int = 2048
    """Up to this size, the content of a written text file is kept."""
    backend: str = "auto"
    """bubblewrap, apptainer, or auto: bubblewrap, and where it does not work and there is an image,
    apptainer."""
    image: str = ""
    """Image file or folder that apptainer runs."""

    def __post_init__(self) -> None:
        if not 0 < self.timeout_s <= 3600 or not math.isfinite(self.timeout_s):
            raise _refusal("timeout_s", self.timeout_s, "seconds above 0, at most 3600")
        _check_integer("memory_mb", self.memory_mb, 64, 1 << 20)
        _check_integer("max_processes", self.max_processes, 4, 4096)
        _check_integer("max_output_bytes", self.max_output_bytes, 1, 1 << 24)
        _check_integer("max_parallel", self.max_parallel, 1, 1024)
        _check_integer("warm_workers", self.warm_workers, 0, 256)
        _check_integer("work_mb", self.work_mb, 0, 1 << 16)
        _check_integer("max_files", self.max_files, 1, 1024)
        _check_integer("max_text_bytes", self.max_text_bytes, 0, 1 << 20)
        if not isinstance(self.is_stateful, bool):
            raise _refusal("is_stateful", self.is_stateful, "true or false")
        if self.unsafe not in ("", RUN_WITHOUT_SANDBOX):
            raise _refusal("unsafe", repr(self.unsafe), f'"" or "{RUN_WITHOUT_SANDBOX}"')
        for key in ("python", "files_root", "image"):
            value = getattr(self, key)
            if value and not value.startswith("/"):
                raise _refusal(key, repr(value), "an absolute path, or nothing")
        self._check_packages()
        self._check_backend()

    def _check_packages(self) -> None:
        names = self.required_packages
        is_listed = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
        if not is_listed or not all(map(_MODULE.fullmatch, names)):
            raise _refusal("required_packages", repr(names), "a list of module names")
        object.__setattr__(self, "required_packages", tuple(names))

    def _check_backend(self) -> None:
        if self.backend not in BACKENDS:
            raise _refusal("backend", repr(self.backend), ", ".join(BACKENDS))
        if self.backend == "apptainer" and not self.image:
            raise _refusal("image", "''", "the absolute path of an image, as backend is apptainer")
        if self.backend == "bubblewrap" and self.image:
            raise _refusal("image", repr(self.image), "nothing, as backend is bubblewrap")
        if self.backend == "apptainer" and self.work_mb:
            # Its writable folders have the size that the administrator gave them, or none.
            raise _refusal("work_mb", self.work_mb, "0, as backend is apptainer")
        if self.files_root and not self.work_mb:
            raise _refusal("files_root", repr(self.files_root), "nothing, or work_mb above 0")


def _check_integer(key: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _refusal(key, value, f"a whole number from {least} to {most}")


def _refusal(key: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"sandbox.{key}: {value} is not allowed; use {allowed}")
