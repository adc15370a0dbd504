"""Keys are read from the environment, and cut out of every text that leaves a client.

Providers like to repeat a wrong key in their answer; it must not end up in a log or a cassette.
"""

from __future__ import annotations

import os

MASK = "***"
_MIN_CHARS = 6
"""Shorter values are no keys, and cutting them out would tear words apart."""


class Secrets:
    """The keys that one process has read."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def read(self, variable: str, *, wanted_by: str) -> str:
        """The value of an environment variable, to be hidden from now on.

        Raises:
            ValueError: It is not set, or empty; the message says who needs it.
        """
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ValueError(
                f"{wanted_by} needs a key: set the environment variable {variable}, or choose "
                "what needs none"
            )
        if len(value) >= _MIN_CHARS:
            self._values.add(value)
        return value

    def hide(self, text: str) -> str:
        """`text` without any of the keys."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, MASK)
        return text
