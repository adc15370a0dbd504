"""Which interpreter the sandbox runs, and the few paths of it that a program must see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

_ASK = """
import json, sys
print(json.dumps([sys.executable, sys.prefix, sys.exec_prefix, sys.base_prefix,
                  sys.base_exec_prefix]))
"""


@dataclass(frozen=True, kw_only=True)
class Python:
    """An interpreter and the paths outside /usr that it needs."""

    executable: str
    paths: tuple[str, ...]
    has_packages: bool
    """Whether its installed packages can be imported."""


def find_python(path: str) -> Python:
    """Ask an interpreter where its files are.

    Args:
        path: The interpreter, or the folder of its environment; empty: the one that runs this,
            without its installed packages.

    Raises:
        ValueError: If it cannot be run.
    """
    if os.path.isdir(path):
        path = os.path.join(path, "bin", "python")
    base_executable: str = getattr(sys, "_base_executable", sys.executable)
    flags = ["-I"] if path else ["-I", "-S"]
    command = [path or os.path.realpath(base_executable), *flags, "-c", _ASK]
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=True, env={})
        executable, *prefixes = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ValueError(f"sandbox.python: {command[0]} does not run: {error}") from None
    return Python(executable=executable, paths=_needed_paths(prefixes), has_packages=bool(path))


def _needed_paths(prefixes: list[str]) -> tuple[str, ...]:
    """What to show of each prefix: never the whole, which may be somebody's home."""
    paths = set()
    for prefix in {*prefixes, *map(os.path.realpath, prefixes)}:
        if prefix in ("/", "/usr") or prefix.startswith("/usr/"):
            continue
        for name in ("bin", "lib", "lib64", "pyvenv.cfg"):
            if os.path.exists(os.path.join(prefix, name)):
                paths.add(os.path.join(prefix, name))
    return tuple(sorted(paths))
