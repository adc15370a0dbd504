"""Attempts to have the host read or write something else while it looks at written files."""

from __future__ import annotations

import os
import textwrap
import uuid
from pathlib import Path

import pytest
from tests.integration.sandbox_runs import run

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.session import SandboxSession

pytestmark = pytest.mark.sandbox


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text(f"token-{uuid.uuid4().hex}")
    return path


async def test_links_to_the_hosts_files_and_folders_are_not_followed(secret: Path) -> None:
    result = await run(
        f"""
        import os
        os.symlink({str(secret)!r}, "file")
        os.symlink({str(secret.parent)!r}, "folder")
        os.symlink("/proc/self/root{secret}", "root")
        os.symlink("../../../../../../..{secret}", "up")
        open("real", "w").close()
        """,
        work_mb=4,
    )
    assert [file.name for file in result.files.files] == ["real"]
    assert {kind for _, kind in result.files.refused} == {"symbolic link"}
    assert secret.read_text() not in str(result)


async def test_the_folder_itself_cannot_be_exchanged(secret: Path) -> None:
    result = await run(
        """
        import os
        for attempt in (lambda: os.rename("/tmp/work", "/tmp/other"), lambda: os.rmdir("/tmp/work"),
                        lambda: os.unlink("/tmp/work")):
            try:
                attempt()
                print("worked")
            except OSError:
                print("refused")
        os.chdir("/tmp")
        """,
        work_mb=4,
    )
    assert result.stdout.split() == ["refused"] * 3
    assert result.files.files == ()


async def test_names_that_change_while_the_host_looks_lead_nowhere(secret: Path) -> None:
    session = SandboxSession(
        find_sandbox(SandboxConfig(work_mb=4, is_stateful=True, max_text_bytes=1 << 16))
    )
    flip = f"""
    import os, threading
    os.makedirs("folder")
    open("folder/secret", "w").write("mine")
    def flip():
        while True:
            for here in ({str(secret.parent)!r}, None):
                try:
                    if here:
                        os.rename("folder", "aside")
                        os.symlink(here, "folder")
                        os.symlink({str(secret)!r}, "file")
                    else:
                        os.unlink("folder")
                        os.rename("aside", "folder")
                        os.unlink("file")
                        os.mkfifo("file")
                        os.unlink("file")
                except OSError:
                    pass
    threading.Thread(target=flip, daemon=True).start()
    """
    num_open = len(os.listdir("/proc/self/fd"))
    results = [await session.run(textwrap.dedent(flip))]
    num_open = len(os.listdir("/proc/self/fd"))
    results += [await session.run("1") for _ in range(60)]
    assert len(os.listdir("/proc/self/fd")) == num_open
    await session.close()
    assert all(result.stdout == "1\n" for result in results[1:])
    assert secret.read_text() not in str(results)


async def test_what_came_in_is_a_copy(secret: Path) -> None:
    data = secret.read_bytes()
    given = InputFile(name="a/b", data=data, sha256="0")
    sandbox = find_sandbox(SandboxConfig(work_mb=4))
    await sandbox.run("import os; os.chmod('a', 0o777); os.unlink('a/b')", (given,))
    assert secret.read_bytes() == data
    assert (await sandbox.run("open('a/b').read()", (given,))).stdout == repr(data.decode()) + "\n"
