from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.input_files import read_input_files


def config(**changes: Any) -> SandboxConfig:
    return SandboxConfig(**({"work_mb": 1, "max_files": 3} | changes))


def test_texts_and_paths_become_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "b.bin").write_bytes(b"\0\1")
    told = {"z.txt": "é", "d/a.txt": {"text": "a"}, "b": {"path": "tables/b.bin"}}
    files = read_input_files(told, config(files_root=str(tmp_path)))
    assert [(file.name, file.data) for file in files] == [
        ("b", b"\0\1"),
        ("d/a.txt", b"a"),
        ("z.txt", "é".encode()),
    ]
    assert files[0].sha256 == hashlib.sha256(b"\0\1").hexdigest()


@pytest.mark.parametrize(
    "name",
    ["", "/etc/x", "../x", "a/../../x", "a//b", "./a", "a/", "a\0b", "a\nb", "x" * 201, "a/" * 9],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^task\.metadata\.files: .* is not allowed; use rel"):
        read_input_files({name: "x"}, config())


@pytest.mark.parametrize(
    ("told", "allowed"),
    [
        (["a"], "a mapping"),
        ({3: "a"}, "relative names"),
        ({"a": 3}, "a text"),
        ({"a": {"url": "x"}}, "a text"),
        ({"a": {"text": "x", "path": "y"}}, "a text"),
        ({"a": {"path": 3}}, "a path within"),
        ({"a": "x", "a/b": "y"}, "none is the folder of another"),
        ({name: "x" for name in "abcd"}, r"at most sandbox\.max_files=3"),
        ({"a": "x" * 300_000, "b": "x" * 300_000}, r"half of sandbox\.work_mb"),
        ({"a": {"path": "gone"}}, "a file that can be read"),
        ({"a": {"path": "folder"}}, "a regular file"),
        ({"a": {"path": "pipe"}}, "a regular file"),
        ({"a": {"path": "big"}}, r"half of sandbox\.work_mb"),
        ({"a": {"path": "../secret"}}, "a path within"),
        ({"a": {"path": "/etc/passwd"}}, "a path within"),
        ({"a": {"path": "."}}, "a path within"),
        ({"a": {"path": "link"}}, "a path within"),
    ],
)
def test_what_cannot_be_put_in_is_refused_with_what_can(
    told: Any, allowed: str, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    os.mkfifo(root / "pipe")
    (root / "big").write_bytes(bytes(600_000))
    (root / "link").symlink_to("../secret")
    with pytest.raises(ValueError, match=f"is not allowed; use .*{allowed}") as caught:
        read_input_files(told, config(files_root=str(root)))
    assert len(str(caught.value)) < 500


def test_without_a_root_no_path_is_read() -> None:
    with pytest.raises(ValueError, match=r"use texts only, or set sandbox\.files_root"):
        read_input_files({"a": {"path": "a"}}, config())
