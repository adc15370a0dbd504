"""Options of the tool kind web_search."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class WebConfig:
    """How much of what a search finds is shown."""

    top_k: int = 5
    """Largest number of pages in a result."""
    max_hit_chars: int = 1000
    """Longest text of a page."""

    def __post_init__(self) -> None:
        for key in ("top_k", "max_hit_chars"):
            if getattr(self, key) < 1:
                raise ValueError(
                    f"tool.options.{key}: {getattr(self, key)} is not allowed; "
                    "use a whole number from 1"
                )
