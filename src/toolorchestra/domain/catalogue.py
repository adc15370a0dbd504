"""Where a domain comes from: those that ship with the project and those of tau2-bench by name,
others from a folder.

A task names its domain's folder and what lay there when it was made. So whoever has the task finds
the domain, in any process, and nobody mistakes a folder that has changed since for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from toolorchestra.domain.domain import Domain, Origin
from toolorchestra.domain.folder import read_texts, texts_digest
from toolorchestra.domain.kinds import AnyDomain
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.domain.tau2.load import load_tau2
from toolorchestra.domain.tau2.names import is_tau2
from toolorchestra.domain.untrusted.limits import LIMITS, limits_of, options_of
from toolorchestra.domain.untrusted.load import load_untrusted
from toolorchestra.sandbox.config import SandboxConfig

_MAX_LOADED = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A folder whose code runs in the sandbox."""

    folder: str
    limits: SandboxConfig = LIMITS


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """The domains that a run can name."""

    folders: Mapping[str, Listed] = field(default_factory=dict)
    """By the name of the domain, beside those that ship with the project."""

    def load(self, name: str) -> AnyDomain:
        """The domain of that name; loaded once in a process as long as its files stay the same.

        Raises:
            ValueError: there is none, its folder cannot be used, or tau2-bench is not installed.
        """
        return load_tau2(name) if is_tau2(name) else self.load_own(name)

    def load_own(self, name: str) -> Domain:
        """The same of a domain that ships with the project or lies in a folder.

        Raises:
            ValueError: there is none, or its folder cannot be used.
        """
        if name in SHIPPED:
            return load_shipped(name)
        if name not in self.folders:
            known = ", ".join((*SHIPPED, *self.folders))
            raise ValueError(f"domain: {name!r} is not allowed; use {known}")
        listed = self.folders[name]
        folder = str(Path(listed.folder).resolve())
        try:
            now = texts_digest(read_texts(Path(folder), follows_links=False))
            return _load(name, folder, now, listed.limits)
        except ValueError as error:
            raise ValueError(
                f"dataset.domain.folders.{name}: {listed.folder} is not allowed: {error}"
            ) from error


SHIPPED_ALONE = Catalogue()
"""Knows no folder."""


def load_origin(name: str, origin: Origin) -> Domain:
    """The domain that was loaded from `origin`; loaded once in a process.

    Raises:
        ValueError: its folder cannot be used, or holds something else by now.
    """
    return _load(name, origin.folder, origin.digest, limits_of(origin.options))


@lru_cache(maxsize=_MAX_LOADED)
def _load(name: str, folder: str, digest: str, limits: SandboxConfig) -> Domain:
    domain = load_untrusted(Path(folder), name=name, limits=limits)
    if domain.origin != Origin(folder=folder, digest=digest, options=options_of(limits)):
        raise ValueError(
            f"{folder}: has changed since tasks of the domain {name} were made of it; put its "
            "files back, or begin a new run"
        )
    return domain
