"""Tests that need a running Slurm: `make slurm-up`, then pytest -m slurm."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE_S = 120.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs the cluster."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slurm)


@pytest.fixture(autouse=True, scope="session")
def cluster() -> None:
    """Skips where there is no Slurm, and says how to get one."""
    answers = (
        shutil.which("sinfo")
        and not subprocess.run(["sinfo", "--noheader"], capture_output=True, check=False).returncode
    )
    if not answers:
        pytest.skip("no Slurm answers here: make slurm-up")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A sweep's folder; its jobs are cancelled when the test ends."""
    path = tmp_path / "sweep"
    yield path
    subprocess.run(["scancel", "--name", f"toolorchestra-{path.name}"], check=False)


def until(what: Callable[[], bool], *, patience_s: float = PATIENCE_S) -> None:
    """Waits for something to be so."""
    deadline = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.1)
