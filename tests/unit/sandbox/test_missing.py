from __future__ import annotations

import pytest

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.missing import missing_module
from toolorchestra.sandbox.python import Python

MESSAGE = "ModuleNotFoundError: No module named 'a.b'"


@pytest.mark.parametrize(
    ("message", "packages", "has_packages", "told"),
    [
        (MESSAGE, (), False, "there is no module a.b here, only the standard library"),
        (MESSAGE, (), True, "there is no module a.b here"),
        (
            MESSAGE,
            ("numpy", "sympy"),
            True,
            "there is no module a.b here; besides the standard library there is: numpy, sympy",
        ),
        ("ImportError: cannot import name 'x' from 'y'", (), False, ""),
        ("", (), False, ""),
    ],
)
def test_a_missing_module_is_told_with_what_there_is(
    message: str, packages: tuple[str, ...], has_packages: bool, told: str
) -> None:
    python = Python(executable="python3", paths=(), has_packages=has_packages)
    config = SandboxConfig(required_packages=packages)
    assert missing_module(message, config, python) == told
