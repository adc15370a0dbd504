"""What a program is told whose import is not there."""

from __future__ import annotations

import re

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.python import Python

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


def missing_module(message: str, config: SandboxConfig, python: Python) -> str:
    """A sentence on what can be imported where a module is missing; else nothing.

    Args:
        message: A result's.
        config: Which modules are known to be there.
        python: The interpreter that ran.
    """
    found = _MISSING.match(message)
    if not found:
        return ""
    told = f"there is no module {found.group(1)} here"
    if config.required_packages:
        return f"{told}; besides the standard library there is: " + ", ".join(
            config.required_packages
        )
    return told if python.has_packages else f"{told}, only the standard library"
