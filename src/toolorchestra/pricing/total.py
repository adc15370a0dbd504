"""Sums of usage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from toolorchestra.types import Usage


def total_usage(parts: Iterable[Usage]) -> Usage:
    """The usage of several calls together; an estimate if any of them is one."""
    parts = tuple(parts)
    sums = {
        field.name: sum(getattr(part, field.name) for part in parts)
        for field in fields(Usage)
        if field.name != "is_estimated"
    }
    return Usage(**sums, is_estimated=any(part.is_estimated for part in parts))
