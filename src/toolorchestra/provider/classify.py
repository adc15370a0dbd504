"""What a failed request means: HTTP statuses, error bodies and broken connections as one kind."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx2

from toolorchestra.provider.fault import FaultKind, ProviderFault

_MAX_CHARS = 300

_BY_STATUS: dict[int, FaultKind] = {
    401: "auth", 402: "quota", 403: "auth", 404: "not_found", 408: "timeout", 409: "server",
    425: "server", 429: "rate_limit",
}  # fmt: skip

_QUOTA = ("insufficient_quota", "billing", "payment_required", "credit")
_INPUT = (
    "context_length_exceeded", "string_above_max_length", "maximum context length",
    "prompt is too long", "input is too long",
)  # fmt: skip
_FILTERED = ("content_filter", "content_policy")


def fault_of_response(
    status: int, body: str, headers: Mapping[str, str], *, provider: str
) -> ProviderFault:
    """The fault that a response tells of: a status from 400, or an error inside a 200."""
    error = _error_in(body)
    words = f"{error.get('code')} {error.get('type')} {error.get('message')}".lower()
    status = _status_in(error) if status < 400 else status
    kind: FaultKind = _BY_STATUS.get(status, "server" if status >= 500 else "refused")
    if kind == "rate_limit" and any(word in words for word in _QUOTA):
        kind = "quota"  # OpenAI says 429 for both
    if kind == "refused" and any(word in words for word in _INPUT):
        kind = "input"
    if kind == "refused" and any(word in words for word in _FILTERED):
        kind = "filtered"
    message = str(error.get("message") or body or "no reason given").strip()
    return ProviderFault(
        f"{provider} answered {status}: {message[:_MAX_CHARS]}",
        kind=kind,
        retry_after_s=_retry_after_s(headers),
    )


def fault_of_exception(error: Exception, *, provider: str) -> ProviderFault:
    """The fault behind an exception of httpx, or of what wraps it."""
    cause = error.__cause__ if error.__cause__ is not None else error
    kind: FaultKind = "timeout" if isinstance(cause, httpx2.TimeoutException) else "broken"
    return ProviderFault(f"{provider}: {type(cause).__name__}: {cause}"[:_MAX_CHARS], kind=kind)


def has_error(body: Mapping[str, Any]) -> bool:
    """Whether a body tells of an error, whatever its status."""
    return bool(body.get("error")) or body.get("object") == "error"


def _error_in(body: str) -> dict[str, Any]:
    """The error object of a body, in the shapes that providers use; empty where there is none."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    error = found.get("error", found)
    return error if isinstance(error, dict) else {"message": str(error)}


def _status_in(error: Mapping[str, Any]) -> int:
    """The status that an error inside a 200 stands for; 500 where it does not say."""
    for key in ("code", "status", "status_code"):
        try:
            status = int(error.get(key))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        if 400 <= status < 600:
            return status
    words = f"{error.get('code')} {error.get('type')}".lower()
    return 429 if "rate_limit" in words or "overloaded" in words else 500


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds, given as a number or a date; None where it says nothing usable."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return max(seconds, 0.0) if seconds == seconds and seconds < 1e9 else None
