from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.input_files import InputFile, read_input_files
from toolorchestra.sandbox.result import SandboxError
from toolorchestra.sandbox.sandbox import Sandbox
from toolorchestra.sandbox.session import RESTARTED, SandboxSession
from toolorchestra.sandbox.written import WrittenFile

pytestmark = pytest.mark.sandbox

FOUND = find_sandbox(SandboxConfig())
LAUNCHES = {
    "found": FOUND._launch,
    "user": replace(FOUND._launch, isolation="user"),
    "none": replace(FOUND._launch, isolation="none"),
}


def open_sandbox(launch: str = "found", **changes: Any) -> Sandbox:
    options: dict[str, Any] = {"timeout_s": 5.0, "work_mb": 4, "max_files": 5} | changes
    return Sandbox(LAUNCHES[launch], SandboxConfig(**options))


def given(**texts: str) -> tuple[InputFile, ...]:
    told = {name.replace("__", "/"): text for name, text in texts.items()}
    return read_input_files(told, SandboxConfig(work_mb=4))


@pytest.mark.parametrize("launch", list(LAUNCHES))
@pytest.mark.parametrize("warm_workers", [0, 1])
async def test_files_come_in_and_what_is_written_is_told(launch: str, warm_workers: int) -> None:
    sandbox = open_sandbox(launch, warm_workers=warm_workers)
    copy = "import os; os.mkdir('out'); open('out/b', 'w').write(open('in/a').read() * 2)\n"
    copy += "os.listdir()"
    for _ in range(2):
        result = await sandbox.run(copy, given(in__a="hi"))
        assert sorted(eval(result.stdout)) == ["in", "out"]
        digest = hashlib.sha256(b"hihi").hexdigest()
        assert result.files.files == (
            WrittenFile(name="out/b", num_bytes=4, sha256=digest, text="hihi"),
        )
        assert result.files.refused == ()
    await sandbox.close()


async def test_a_file_that_came_in_is_told_only_where_it_was_replaced() -> None:
    code = (
        "import os\ntry:\n  os.remove('a')\nexcept OSError: pass\nelse: open('a', 'w').write('x')"
    )
    result = await open_sandbox("user").run(code, given(a="1", b="2"))
    assert [(file.name, file.text) for file in result.files.files] == [("a", "x")]


async def test_what_came_in_cannot_be_written() -> None:
    result = await open_sandbox().run("open('a', 'w')", given(a="1"))
    assert result.message.startswith("PermissionError")


async def test_what_is_no_regular_file_is_named_and_left_alone() -> None:
    make = """
import os, socket
os.symlink("/etc/passwd", "link")
os.symlink("/etc", "linked_folder")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
"""
    result = await open_sandbox().run(make)
    assert result.files.files == ()
    assert result.files.refused == (
        ("link", "symbolic link"),
        ("linked_folder", "symbolic link"),
        ("pipe", "pipe"),
        ("socket", "socket"),
    )


async def test_many_files_are_counted_and_few_are_listed() -> None:
    result = await open_sandbox().run("for n in range(100): open(f'{n:03}', 'w').close()")
    assert [file.name for file in result.files.files] == ["000", "001", "002", "003", "004"]
    assert result.files.num_more == 95


async def test_a_flood_of_files_ends_the_looking() -> None:
    result = await open_sandbox(timeout_s=30).run(
        "for n in range(12000): open(f'{n:05}', 'w').close()"
    )
    assert len(result.files.files) + result.files.num_more == 10_000


async def test_huge_files_are_bounded_and_pretended_ones_are_not_read() -> None:
    result = await open_sandbox().run(
        "open('pretended', 'w').truncate(60 << 20)\nopen('real', 'wb').write(bytes(5 << 20))"
    )
    assert result.message.startswith("OSError: [Errno 28]")
    pretended, real = result.files.files
    assert (pretended.num_bytes, pretended.sha256, pretended.text) == (60 << 20, "", None)
    assert 0 < real.num_bytes <= 4 << 20


async def test_only_small_texts_are_kept() -> None:
    result = await open_sandbox(max_text_bytes=4).run(
        "for name, data in (('a', b'1234'), ('b', b'12345'), ('c', b'\\0'), ('d', b'\\xff')):\n"
        "  open(name, 'wb').write(data)"
    )
    assert [file.text for file in result.files.files] == ["1234", None, None, None]


async def test_names_are_shown_on_one_line_and_as_text() -> None:
    result = await open_sandbox().run("open(b'a\\nb\\xff', 'w').close()")
    assert [file.name for file in result.files.files] == ["a\\nb\\udcff"]


async def test_deep_folders_are_told_and_not_entered_for_ever() -> None:
    result = await open_sandbox().run("import os; os.makedirs('/'.join('d' * 40))")
    assert result.files.refused == (("/".join("d" * 17), "folder"),)


async def test_a_timeout_still_tells_what_was_written() -> None:
    result = await open_sandbox(timeout_s=1.0).run("open('a', 'w').close()\nwhile True: pass")
    assert (result.status, [file.name for file in result.files.files]) == ("timeout", ["a"])


async def test_a_session_keeps_its_files_and_tells_each_change_once() -> None:
    session = SandboxSession(open_sandbox(is_stateful=True))
    told = []
    for code in ("open('b', 'w').write(open('a').read())", "1", "open('b', 'a').write('+')", "2"):
        result = await session.run(code, given(a="hi"))
        told.append([(file.name, file.text) for file in result.files.files])
    assert told == [[("b", "hi")], [], [("b", "hi+")], []]
    await session.close()


async def test_a_session_that_starts_anew_gets_its_files_anew() -> None:
    session = SandboxSession(open_sandbox(is_stateful=True))
    await session.run("import os; os._exit(0)", given(a="hi"))
    result = await session.run("import os; os.listdir(), open('a').read()", given(a="hi"))
    assert (result.stdout, result.note) == ("(['a'], 'hi')\n", RESTARTED)
    await session.close()


async def test_files_that_do_not_fit_are_a_fault_of_the_sandbox() -> None:
    big = InputFile(name="big", data=bytes(5 << 20), sha256="0")
    with pytest.raises(SandboxError, match="a task's file cannot be put in: .*No space left"):
        await open_sandbox().run("1", (big,))


async def test_without_a_folder_nothing_is_told() -> None:
    result = await open_sandbox(work_mb=0).run("open('a', 'w').close(); import os; os.getcwd()")
    assert result.stdout == "'/tmp'\n"
    assert result.files.files == ()
