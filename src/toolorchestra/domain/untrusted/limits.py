"""What the sandbox allows the code of domains that nobody trusts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolorchestra.sandbox.config import SandboxConfig

LIMITS = SandboxConfig(
    timeout_s=5.0, memory_mb=256, max_processes=8, max_output_bytes=4 << 20, max_parallel=2
)
"""What holds where nothing else is asked for. `timeout_s` is the time of a call, `max_output_bytes`
bounds its reply, and `max_parallel` is the number of calls of one domain at one time."""

OPTIONS = (
    "timeout_s",
    "memory_mb",
    "max_processes",
    "max_output_bytes",
    "max_parallel",
    "unsafe",
    "backend",
    "image",
)
"""Those of `SandboxConfig` that can be chosen."""


def limits_of(options: Mapping[str, Any]) -> SandboxConfig:
    """`LIMITS` with other options.

    Raises:
        ValueError: there is no such option, or it has no such value.
    """
    for name in options:
        if name not in OPTIONS:
            raise ValueError(f"sandbox: {name!r} is not allowed; use {', '.join(OPTIONS)}")
    try:
        return replace(LIMITS, **options)
    except (AttributeError, TypeError) as error:
        raise ValueError(f"sandbox: {dict(options)} is not allowed: {error}") from error


def options_of(limits: SandboxConfig) -> dict[str, Any]:
    """What `limits_of` makes `limits` of."""
    return {
        name: getattr(limits, name)
        for name in OPTIONS
        if getattr(limits, name) != getattr(LIMITS, name)
    }
