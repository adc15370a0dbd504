from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.sandbox.config import SandboxConfig


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("timeout_s", 0),
        ("timeout_s", float("nan")),
        ("timeout_s", float("inf")),
        ("memory_mb", 1),
        ("memory_mb", 128.5),
        ("max_processes", 0),
        ("max_processes", True),
        ("max_output_bytes", 0),
        ("max_parallel", 0),
        ("is_stateful", "yes"),
        ("unsafe", "true"),
        ("python", "python3"),
        ("warm_workers", -1),
        ("work_mb", -1),
        ("max_files", 0),
        ("max_text_bytes", -1),
        ("files_root", "data"),
        ("required_packages", "numpy"),
        ("required_packages", ["a b"]),
        ("required_packages", [3]),
        ("backend", "docker"),
        ("image", "python.sif"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^sandbox\.{key}: .* is not allowed; use "):
        SandboxConfig(**{key: value})


def test_the_defaults_and_the_one_unsafe_word_are_allowed() -> None:
    assert SandboxConfig().unsafe == ""
    assert SandboxConfig(unsafe="run_without_sandbox", python="/usr/bin/python3").memory_mb == 512


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"backend": "apptainer"}, "image"),
        ({"backend": "bubblewrap", "image": "/a.sif"}, "image"),
        ({"backend": "apptainer", "image": "/a.sif", "work_mb": 1}, "work_mb"),
        ({"files_root": "/data"}, "files_root"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: Any, key: str) -> None:
    with pytest.raises(ValueError, match=rf"^sandbox\.{key}: .* is not allowed; use "):
        SandboxConfig(**options)


def test_a_list_of_packages_as_yaml_gives_it_is_allowed() -> None:
    packages: Any = ["numpy", "scipy.stats"]
    assert SandboxConfig(required_packages=packages).required_packages == ("numpy", "scipy.stats")
