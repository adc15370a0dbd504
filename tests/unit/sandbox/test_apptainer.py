"""apptainer itself is not needed: a stand-in takes its command line and runs what stands behind the
image in namespaces that bubblewrap makes. It shows that the runner, its limits and its end work
where no user id of its own is given; not that apptainer takes these options."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.integration.sandbox_runs import host_processes, until

from toolorchestra.sandbox.apptainer import namespace_init
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.session import SandboxSession

pytestmark = pytest.mark.sandbox

STAND_IN = """\
#!/bin/sh
# A stand-in for apptainer.
printf '%s\\n' "$@" > {log}
while [ "$1" != {image} ]; do shift; done
shift
exec {bwrap} --ro-bind / / {python} --dev /dev --proc /proc --tmpfs /tmp --unshare-pid \\
  --unshare-net --unshare-ipc --unshare-uts --die-with-parent --clearenv --chdir /tmp {rights} "$@"
"""
ANOTHER_USER = (
    "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID -- "
    "/usr/bin/setpriv --reuid=1879000000 --regid=1879000000 --clear-groups --no-new-privs --"
)
"""Whom limits bind, as they do not bind root."""


def show_python() -> str:
    """Options that let another user see an interpreter in root's home."""
    prefix = Path(sys.base_prefix)
    if prefix.is_relative_to("/usr"):
        return ""
    parents = [f"--dir {parent}" for parent in reversed(prefix.parents[:-2])]
    return f"--tmpfs /{prefix.parts[1]} {' '.join(parents)} --ro-bind {prefix} {prefix}"


class StandIn:
    """A folder with an `apptainer`, alone in PATH, and an image."""

    def __init__(self, folder: Path) -> None:
        self.image = folder / "python.sif"
        self.image.touch()
        self.log = folder / "log"
        self.program = folder / "bin" / "apptainer"
        self.program.parent.mkdir()
        self.write(
            STAND_IN.format(
                log=self.log,
                image=self.image,
                bwrap=shutil.which("bwrap"),
                python=show_python(),
                rights=ANOTHER_USER if os.geteuid() == 0 else "--unshare-user --cap-drop ALL --",
            )
        )

    def write(self, text: str) -> None:
        self.program.write_text(text)
        self.program.chmod(0o755)

    def config(self, **changes: Any) -> SandboxConfig:
        python = os.path.realpath(sys._base_executable)
        options: dict[str, Any] = {"image": str(self.image), "python": python, "timeout_s": 5.0}
        return SandboxConfig(**(options | changes))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn(tmp_path)
    monkeypatch.setenv("PATH", str(made.program.parent))
    return made


async def test_a_program_runs_in_the_container_of_the_image(stand_in: StandIn) -> None:
    sandbox = find_sandbox(stand_in.config(backend="apptainer"))
    assert (await sandbox.run("print('hi')\n6 * 7")).stdout == "hi\n42\n"
    words = stand_in.log.read_text().split("\n")
    assert words[:3] == ["--silent", "exec", "--containall"]
    assert words.index("none") < words.index(str(stand_in.image))


@pytest.mark.parametrize("is_stateful", [False, True])
async def test_limits_hold_and_nothing_is_left(stand_in: StandIn, is_stateful: bool) -> None:
    mark = str(223 << 20)
    sandbox = find_sandbox(
        stand_in.config(timeout_s=1.0, memory_mb=223, warm_workers=1, is_stateful=is_stateful)
    )
    session = SandboxSession(sandbox)
    run = session.run if is_stateful else sandbox.run
    assert (await run("bytearray(10**9)")).status == "memory"
    daemon = "import os\nif os.fork() == 0:\n  os.setsid()\n  while True: pass\n1"
    assert (await run(daemon)).status == "ok"
    assert (await run("while True: pass")).status == "timeout"
    await session.close()
    await sandbox.close()
    assert host_processes(mark) == []


async def test_the_runner_itself_filters_system_calls(stand_in: StandIn) -> None:
    result = await find_sandbox(stand_in.config()).run(
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.unshare(0x10000000), ctypes.get_errno(), libc.memfd_create(b'x', 0)"
    )
    assert result.stdout == "(-1, 1, -1)\n"


async def test_auto_takes_apptainer_only_where_bubblewrap_does_not_work(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_sandbox(stand_in.config())._launch.isolation == "apptainer"
    monkeypatch.setenv("PATH", f"{stand_in.program.parent}:{os.defpath}")
    assert find_sandbox(stand_in.config())._launch.is_bubblewrap


async def test_where_neither_works_both_are_told_with_what_to_do(stand_in: StandIn) -> None:
    stand_in.write("#!/bin/sh\necho FATAL: no setuid >&2\nexit 255\n")
    with pytest.raises(ValueError) as caught:
        find_sandbox(stand_in.config())
    told = str(caught.value)
    assert "bubblewrap is not installed; install the package bubblewrap" in told
    assert "apptainer does not work here: FATAL: no setuid; try by hand: apptainer exec" in told
    stand_in.program.unlink()
    with pytest.raises(ValueError, match="apptainer is not installed; load its module"):
        find_sandbox(stand_in.config(backend="apptainer"))


async def test_an_image_that_is_not_there_is_named_with_how_to_make_one(
    stand_in: StandIn,
) -> None:
    stand_in.image.unlink()
    with pytest.raises(ValueError, match="there is no image .*python.sif; make one with"):
        find_sandbox(stand_in.config(backend="apptainer"))


async def test_packages_are_looked_for_in_the_image(stand_in: StandIn) -> None:
    with pytest.raises(ValueError, match=r"^sandbox\.required_packages: .*nonesuch"):
        find_sandbox(stand_in.config(required_packages=("json", "nonesuch")))


async def test_the_first_process_of_a_namespace_is_found_from_outside() -> None:
    sandbox = find_sandbox(SandboxConfig(memory_mb=227, timeout_s=60.0))
    others = {child.pid for child in psutil.Process().children()}  # e.g. those of domains

    def found() -> int | None:
        ours = [child.pid for child in psutil.Process().children() if child.pid not in others]
        return next(filter(None, map(namespace_init, ours)), None)

    assert found() is None
    running = asyncio.create_task(sandbox.run("import time; time.sleep(60)"))
    await until(lambda: found() is not None)
    assert found() in host_processes(str(227 << 20))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert found() is None
