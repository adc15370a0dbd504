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
    ],
)
def test_a_value_out_of_range_is_refused_by_name(key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^sandbox\.{key}: .* is not allowed; use "):
        SandboxConfig(**{key: value})


def test_the_defaults_and_the_one_unsafe_word_are_allowed() -> None:
    assert SandboxConfig().unsafe == ""
    assert SandboxConfig(unsafe="run_without_sandbox", python="/usr/bin/python3").memory_mb == 512
