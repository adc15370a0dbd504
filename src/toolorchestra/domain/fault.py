"""What can go wrong with a domain, by who has to mend it."""

from __future__ import annotations


class DomainError(Exception):
    """A call asked for what cannot be done; the message tells the policy why.

    A domain's functions raise it. The database then is as it was before the call.
    """


class DomainBug(Exception):
    """A domain's own code broke: it raised something else, or left records that its schema forbids.

    Never the policy's fault, so a rollout that meets one is void.
    """


class BadDomain(ValueError):
    """A domain's files cannot be used; the message names the file, the line and the reason."""
