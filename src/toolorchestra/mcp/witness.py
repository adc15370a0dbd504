"""What was noticed of an MCP server, for the one sentence that says why it failed; no secrets."""

from __future__ import annotations

from collections.abc import Iterable

HIDDEN = "***"
_SHORTEST_SECRET = 6
"""Shorter values, such as "1" or "true", are hidden from nobody and would riddle every text."""
_MAX_STDERR = 2000
_SHOWN = 200


class Witness:
    """Collects what a transport notices; hides secrets in whatever a server says."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # longer ones first: one secret may be a part of another
        self._secrets = sorted({s for s in secrets if len(s) >= _SHORTEST_SECRET}, key=len)[::-1]
        self._seen = ""
        self._stderr = b""
        self.http_status: int | None = None
        """Of the newest response to a message, if it told of an error."""
        self.is_lost = False
        """Whether nothing can come from the server any more."""

    def hide(self, text: str) -> str:
        """`text` without the secrets that the server was given."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def see(self, what: str) -> None:
        """Notes what went wrong; what came first is the cause."""
        self._seen = self._seen or what

    def hear(self, data: bytes) -> None:
        """Takes in what the server wrote on standard error; only its end is kept."""
        self._stderr = (self._stderr + data)[-_MAX_STDERR:]

    def said(self) -> str:
        """What is known, e.g. "it ended with exit status 1; it said: no such file"; or nothing."""
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        last = f"it said: {self.excerpt(lines[-1])}" if lines else ""
        return self.hide("; ".join(filter(None, (self._seen, last))))

    def excerpt(self, text: str) -> str:
        """The beginning of a text on one line, secrets hidden."""
        flat = " ".join(self.hide(text).split())
        return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}..."
