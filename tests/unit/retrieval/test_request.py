import json

import pytest

from toolorchestra.retrieval.record import Query
from toolorchestra.retrieval.request import Limits, read_queries

LIMITS = Limits(max_queries=2, max_top_k=5)


def test_each_text_is_a_query_of_its_own():
    body = json.dumps({"queries": ["a", "b"], "top_k": 5, "allowed": ["d0"]}).encode()
    assert read_queries(body, LIMITS) == [
        Query(text=text, top_k=5, allowed=("d0",)) for text in "ab"
    ]
    assert read_queries(b'{"queries": ["a"], "top_k": 1}', LIMITS)[0].allowed is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([], "the body must be an object"),
        ({"queries": "a", "top_k": 1}, "queries must be a list of one text or more"),
        ({"queries": [], "top_k": 1}, "queries must be a list of one text or more"),
        ({"queries": [1], "top_k": 1}, "queries must be a list of one text or more"),
        ({"queries": ["a"] * 3, "top_k": 1}, "queries holds 3; at most 2 are allowed"),
        ({"queries": ["a"]}, "top_k must be a whole number from 1 to 5; got None"),
        ({"queries": ["a"], "top_k": 0}, "from 1 to 5; got 0"),
        ({"queries": ["a"], "top_k": 6}, "from 1 to 5; got 6"),
        ({"queries": ["a"], "top_k": True}, "from 1 to 5; got True"),
        ({"queries": ["a"], "top_k": 1.0}, "from 1 to 5; got 1.0"),
        ({"queries": ["a"], "top_k": 1, "allowed": "d0"}, "allowed must be a list of ids"),
        ({"queries": ["a"], "top_k": 1, "allowed": [3]}, "allowed must be a list of ids"),
        ({"queries": ["a"], "top_k": 1, "eid": 3}, "key 'eid' is unknown; use queries, top_k, a"),
    ],
)
def test_a_bad_request_is_refused_with_the_reason(fields, message):
    with pytest.raises(ValueError, match=message):
        read_queries(json.dumps(fields).encode(), LIMITS)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'"' + b"[" * 9])
def test_what_is_no_json_is_refused(body):
    with pytest.raises(ValueError, match="the body is no JSON"):
        read_queries(body, LIMITS)


def test_limits_below_one_are_refused():
    with pytest.raises(ValueError, match="--max-top-k: 0 is not allowed; use a whole number"):
        Limits(max_top_k=0)
