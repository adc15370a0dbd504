"""The shop of the domains' tests, with the functions of a process that is trusted."""

from __future__ import annotations

from functools import cache

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.load import load_package


@cache
def shop() -> Domain:
    """The shop; loaded once, as nothing changes it."""
    return load_package("tests.unit.domain.shop")
