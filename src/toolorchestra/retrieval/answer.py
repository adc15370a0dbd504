"""What a server answered, read with care: it may be another program altogether."""

from __future__ import annotations

import json

from toolorchestra.codec import from_json
from toolorchestra.retrieval.fault import RetrievalFault
from toolorchestra.retrieval.record import Hit

_SHOWN_CHARS = 200


def read_hits(text: str) -> tuple[Hit, ...]:
    """The hits of the only query that was asked.

    Raises:
        RetrievalFault: The text says something else.
    """
    try:
        (hits,) = json.loads(text)["results"]
        return tuple(from_json(Hit, hit) for hit in hits)
    except (ValueError, TypeError, KeyError) as error:
        raise RetrievalFault(f"the server's answer cannot be read: {error!r}") from error


def reason_of(text: str) -> str:
    """Why a server refused, as it said itself."""
    try:
        return str(json.loads(text)["error"])[:_SHOWN_CHARS]
    except (ValueError, TypeError, KeyError):
        return " ".join(text.split())[:_SHOWN_CHARS]
