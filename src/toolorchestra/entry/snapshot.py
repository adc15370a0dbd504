"""The code that is submitted is the code that runs: a copy of the source tree in a sweep's folder.

A job may begin, or be started again, days after its submission, when the tree has moved on.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER, RECORD, DIFF = "code", "snapshot.json", "snapshot.diff"
"""In a sweep's folder: the copy; in that: the commit it was made from, and what differs from it."""
_NEVER = ("outputs", "__pycache__", "*.egg-info", ".*")
TOO_LARGE_BYTES = 50_000_000


def take_snapshot(source: Path, sweep_dir: Path) -> Path:
    """Copies what git tracks or would track, as it is now; returns the copy.

    Args:
        source: The project's root.
        sweep_dir: Where the copy is made.

    Raises:
        ValueError: A file is too large to be code.
    """
    target = sweep_dir / FOLDER
    files = git(source, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    if files is None:  # no checkout, such as an unpacked archive
        shutil.copytree(source, target, ignore=_all_but(sweep_dir))
    else:
        for name in sorted(set(files.split("\0")) - {""}):
            _copy(source / name, target / name)
    commit = git(source, "rev-parse", "HEAD") or ""
    record = {
        "git_commit": commit.strip(),
        "is_git_dirty": bool(git(source, "status", "--porcelain")),
    }
    (target / RECORD).write_text(json.dumps(record, indent=1) + "\n")
    diff = git(source, "diff", "HEAD", "--binary") or ""
    (target / DIFF).write_text(diff, encoding="utf-8", errors="surrogateescape")
    return target


def _all_but(sweep_dir: Path) -> Callable[[str, list[str]], set[str]]:
    """What `copytree` leaves out; the copy itself, or it would never end."""
    never = shutil.ignore_patterns(*_NEVER)

    def ignored(folder: str, names: list[str]) -> set[str]:
        own = {name for name in names if Path(folder, name).resolve() == sweep_dir.resolve()}
        return never(folder, names) | own

    return ignored


def _copy(source: Path, target: Path) -> None:
    if not source.is_file():  # deleted, but not yet from git's index; or a submodule
        return
    if source.stat().st_size > TOO_LARGE_BYTES:
        raise ValueError(
            f"launcher: {source} is too large to be copied as code "
            f"({source.stat().st_size / 1e6:.0f} MB); move it elsewhere, or add it to .gitignore"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=True)


def read_origin(root: Path) -> dict[str, Any]:
    """Commit of the source tree at `root`, and whether it was changed since; a copy's own."""
    try:
        record = json.loads((root / RECORD).read_text())
    except OSError:
        commit = (git(root, "rev-parse", "HEAD") or "").strip()
        return {"git_commit": commit, "is_git_dirty": bool(git(root, "status", "--porcelain"))}
    return {key: record[key] for key in ("git_commit", "is_git_dirty")}


def git(root: Path, *arguments: str) -> str | None:
    """Output of a git command; None where there is no git, no checkout or no commit.

    Bytes that are no text, be it in a name or a diff, are kept as Python keeps those of file names.
    """
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout.decode("utf-8", errors="surrogateescape")
    return said if done.returncode == 0 else None
