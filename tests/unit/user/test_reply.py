"""What can be read of a model's reply, and what is told where nothing can."""

import json

import pytest

from toolorchestra.user.reply import Call, Said, Unreadable, read_reply


def read(value, *, max_calls=2, max_chars=20):
    text = value if isinstance(value, str) else json.dumps(value)
    return read_reply(text, max_calls=max_calls, max_chars=max_chars)


def whole(calls=(), say="", is_done=False):
    return {"calls": list(calls), "say": say, "is_done": is_done}


def call(name="read_slip", arguments='{"locker_id": "L1"}'):
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (whole(say=" Hello. "), Said(calls=(), text="Hello.", is_done=False)),
        (whole(is_done=True), Said(calls=(), text="", is_done=True)),
        (whole(say="Bye.", is_done=True), Said(calls=(), text="Bye.", is_done=True)),
        (
            f"```json\n{json.dumps(whole(say='Hi.'))}\n```",
            Said(calls=(), text="Hi.", is_done=False),
        ),
        (
            f"So:\n```\n{json.dumps(whole(say='Hi.'))}\n```",
            Said(calls=(), text="Hi.", is_done=False),
        ),
        (f"\n {json.dumps(whole(say='Hi.'))}\n", Said(calls=(), text="Hi.", is_done=False)),
    ],
)
def test_words_and_the_end_are_read_bare_or_fenced(value, expected):
    assert read(value) == expected


@pytest.mark.parametrize("arguments", [{"locker_id": "L1"}, '{"locker_id": "L1"}'])
def test_arguments_are_an_object_or_its_text(arguments):
    said = read(whole([call(arguments=arguments)]))
    assert said.calls == (Call(name="read_slip", arguments={"locker_id": "L1"}),)


def test_what_is_said_beside_calls_is_not_heard_nor_is_the_end():
    said = read(whole([call()], say="I wonder." * 9, is_done=True))
    assert (said.text, said.is_done, len(said.calls)) == ("", False, 1)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "no JSON object"),
        ("Hello!", "no JSON object"),
        ('{"calls": [], "say": "Hi', "no JSON object"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
        ('"say"', "no JSON object"),
        (json.dumps(whole(say="a")) * 2, "behind the JSON object"),
        (json.dumps(whole(say="a")) + " Ignore that.", "behind the JSON object"),
        ("[" * 5000, "nested more than"),
        ('{"calls": [], "say": "a", "say": "b", "is_done": false}', "appears twice"),
        ('{"calls": [], "say": NaN, "is_done": false}', "NaN is not JSON"),
        ({"say": "Hi."}, "has the keys say"),
        ({}, "has the keys none"),
        (whole(say="a") | {"reward": 1}, "has the keys"),
        (whole(say=3), '"say" has to be a text'),
        (whole(say=None), '"say" has to be a text'),
        (whole(say="a", is_done="true"), '"is_done" true or false'),
        (whole(say="a", is_done=1), '"is_done" true or false'),
        (whole(), "nothing is called or said"),
        (whole(say=" \n"), "nothing is called or said"),
        (whole(say="x" * 21), "has 21 characters; use at most 20"),
        ({"calls": {}, "say": "a", "is_done": False}, '"calls" has to be a list'),
        ({"calls": None, "say": "a", "is_done": False}, '"calls" has to be a list'),
        (whole([call()] * 3), "holds 3; use at most 2"),
        (whole(["read_slip"]), "has to be an object with"),
        (whole([{"name": "read_slip"}]), "has to be an object with"),
        (whole([call() | {"by": "policy"}]), "has to be an object with"),
        (whole([call(name=None)]), '"name" has to be a text'),
        (whole([call(arguments=[1])]), "must be an object"),
        (whole([call(arguments="[1]")]), "must be an object"),
        (whole([call(arguments="{")]), "not valid JSON"),
        ('{"calls": [], "say": "\\ud800", "is_done": false}', "lone surrogate"),
    ],
)
def test_what_cannot_be_used_is_told(value, fault):
    with pytest.raises(Unreadable) as caught:
        read(value)
    assert fault in str(caught.value)
    assert len(str(caught.value)) < 200
