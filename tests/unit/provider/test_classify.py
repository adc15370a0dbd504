"""What a failed response means."""

from __future__ import annotations

import json

import httpx2
import pytest

from toolorchestra.provider.classify import fault_of_exception, fault_of_response


def fault(status, body="", **headers):
    text = body if isinstance(body, str) else json.dumps(body)
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return fault_of_response(status, text, named, provider="acme")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "no such field"}}, "refused"),
        (400, {"error": {"code": "context_length_exceeded"}}, "input"),
        (400, {"object": "error", "message": "This model's maximum context length is 8"}, "input"),
        (400, {"error": {"code": "content_filter"}}, "filtered"),
        (401, {"error": "Unauthorized"}, "auth"),
        (402, {"error": {"message": "pay"}}, "quota"),
        (403, "", "auth"),
        (404, {"detail": "Not Found"}, "not_found"),
        (408, "", "timeout"),
        (422, "[]", "refused"),
        (429, {"error": {"code": "rate_limit_exceeded"}}, "rate_limit"),
        (429, {"error": {"type": "insufficient_quota"}}, "quota"),
        (500, "<html>", "server"),
        (503, "null", "server"),
        (529, {"error": {"type": "overloaded_error"}}, "server"),
        (200, {"error": {"code": 429, "message": "busy"}}, "rate_limit"),
        (200, {"error": {"code": "429"}}, "rate_limit"),
        (200, {"error": {"type": "rate_limit_error"}}, "rate_limit"),
        (200, {"error": {"code": 401}}, "auth"),
        (200, {"error": {"code": True}}, "server"),
        (200, {"error": "something"}, "server"),
    ],
)
def test_a_status_and_what_a_body_says_become_one_kind(status, body, kind):
    assert fault(status, body).kind == kind


def test_the_message_names_provider_status_and_reason_and_is_short():
    told = str(fault(500, {"error": {"message": "x" * 5000}}))
    assert told.startswith("acme answered 500: xxx") and len(told) < 400


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("soon", None), ("nan", None), ("inf", None),
     ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("", None)],
)  # fmt: skip
def test_a_wait_is_a_number_or_a_date_and_never_nonsense(text, expected):
    assert fault(429, "", retry_after=text).retry_after_s == expected


def test_silence_is_a_timeout_and_any_other_break_is_broken():
    assert fault_of_exception(httpx2.ReadTimeout("slow"), provider="acme").kind == "timeout"
    assert fault_of_exception(httpx2.ConnectError("no"), provider="acme").kind == "broken"
    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = httpx2.ConnectTimeout("slow")
    assert fault_of_exception(wrapped, provider="acme").kind == "timeout"
