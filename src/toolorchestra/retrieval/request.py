"""What a client may ask of the server: read from JSON, and refused with a reason."""

from __future__ import annotations

import json
from dataclasses import dataclass

from toolorchestra.retrieval.record import Query

FIELDS = ("queries", "top_k", "allowed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Of one request."""

    max_body_bytes: int = 4 * 2**20
    max_queries: int = 256
    max_top_k: int = 1000

    def __post_init__(self) -> None:
        for key in ("max_body_bytes", "max_queries", "max_top_k"):
            if (value := getattr(self, key)) < 1:
                flag = key.replace("_", "-")
                raise ValueError(f"--{flag}: {value} is not allowed; use a whole number from 1")


def read_queries(body: bytes, limits: Limits) -> list[Query]:
    """The queries of a request.

    Raises:
        ValueError: The body says something else; one sentence says what.
    """
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise ValueError(f"the body is no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ValueError("the body must be an object with queries and top_k")
    if unknown := [key for key in fields if key not in FIELDS]:
        raise ValueError(f"key {unknown[0]!r} is unknown; use {', '.join(FIELDS)}")
    texts, top_k, allowed = (fields.get(key) for key in FIELDS)
    if not _is_texts(texts) or not texts:
        raise ValueError("queries must be a list of one text or more")
    if len(texts) > limits.max_queries:
        raise ValueError(f"queries holds {len(texts)}; at most {limits.max_queries} are allowed")
    if type(top_k) is not int or not 1 <= top_k <= limits.max_top_k:
        raise ValueError(f"top_k must be a whole number from 1 to {limits.max_top_k}; got {top_k}")
    if allowed is not None and not _is_texts(allowed):
        raise ValueError("allowed must be a list of ids of documents, or null")
    among = None if allowed is None else tuple(text.encode(errors="replace").decode()
                                               for text in allowed)  # fmt: skip
    return [Query(text=text, top_k=top_k, allowed=among) for text in texts]


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
