from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from toolorchestra.sandbox.check import check_inside
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with three packages: one works, one fails, one is hungry."""
    folder = tmp_path_factory.mktemp("environment")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys._base_executable)
    (folder / "pyvenv.cfg").write_text(f"home = {Path(sys._base_executable).parent}\n")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (packages / "works.py").write_text("value = 42")
    (packages / "fails.py").write_text("raise OSError('no library')")
    (packages / "hungry.py").write_text("held = bytearray(1 << 30)")
    return folder


async def test_packages_of_a_named_environment_import_and_cannot_be_changed(
    environment: Path,
) -> None:
    for python in (environment, environment / "bin" / "python"):
        sandbox = find_sandbox(SandboxConfig(python=str(python), required_packages=("works",)))
        result = await sandbox.run("import works; print(works.value); open(works.__file__, 'a')")
        assert result.stdout == "42\n"
        assert result.message.startswith(("OSError: [Errno 30]", "PermissionError"))


async def test_a_missing_import_is_told_with_what_is_there(environment: Path) -> None:
    config = SandboxConfig(python=str(environment), required_packages=("works",))
    result = await find_sandbox(config).run("import pandas")
    assert result.message == "ModuleNotFoundError: No module named 'pandas'"
    assert result.note.endswith("besides the standard library there is: works")


def test_required_packages_that_do_not_import_are_named_in_one_error(environment: Path) -> None:
    names = ["works", "fails", "hungry", "absent"]
    with pytest.raises(ValueError) as caught:
        find_sandbox(SandboxConfig(python=str(environment), required_packages=tuple(names)))
    told = str(caught.value)
    assert told.startswith("sandbox.required_packages: works, fails, hungry, absent is not allowed")
    assert told.endswith(
        "What does not import: fails (OSError: no library); hungry (MemoryError: ); "
        "absent (ModuleNotFoundError: No module named 'absent')"
    )


async def test_the_check_can_be_made_while_an_event_loop_runs() -> None:
    assert asyncio.get_running_loop()
    with pytest.raises(ValueError, match="What does not import: numpy"):
        find_sandbox(SandboxConfig(required_packages=("json", "numpy")))


def test_a_folder_that_cannot_be_reached_is_refused() -> None:
    launch = find_sandbox(SandboxConfig())._launch
    with pytest.raises(ValueError, match=r"^sandbox\.work_mb: 4 is not allowed; use 0.*no bwrap"):
        check_inside(replace(launch, bwrap="/no bwrap"), SandboxConfig(work_mb=4))
