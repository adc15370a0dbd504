"""No test of launching reaches a real Slurm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.launch.scene import hide_slurm, put_command


@pytest.fixture(autouse=True)
def commands(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], Path]:
    """`commands("squeue", "echo 7")`: what stands for a command; returns the file of its calls."""
    folder = tmp_path_factory.mktemp("commands")
    hide_slurm(folder, monkeypatch)

    def put(name: str, script: str) -> Path:
        put_command(folder, name, script)
        return folder / f"{name}.calls"

    return put
