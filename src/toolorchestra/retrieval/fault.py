"""Why a search gave nothing, where that is nobody's fault who searched."""

from __future__ import annotations


class RetrievalFault(Exception):
    """A server's fault, never the policy's: one sentence for people."""


class Overloaded(Exception):
    """More searches wait than are allowed to."""
