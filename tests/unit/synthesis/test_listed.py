"""Lists in replies: the good items are taken, and the model is told what is wrong with the rest."""

from __future__ import annotations

import json

import pytest

from toolorchestra.synthesis.listed import Unfit, read_list


def take(item, where):
    if item == "twin":
        raise Unfit(f"{where}: is there", kind="duplicate")
    if not isinstance(item, int):
        raise ValueError(f"{where}: no number")
    return item * 10


def read(value):
    return read_list(value if isinstance(value, str) else json.dumps(value), "numbers", take)


def test_a_good_list_is_taken_whole_with_places():
    reading = read({"numbers": [1, 2]})
    assert reading.value.items == (("numbers[0]", 10), ("numbers[1]", 20))
    assert not reading.value.refused and not reading.fault


def test_bad_items_leave_the_good_ones_and_are_told_with_their_place():
    reading = read({"numbers": ["x", 2, "twin"]})
    assert reading.value.items == (("numbers[1]", 20),)
    assert [(one.kind, one.said) for one in reading.value.refused] == [
        ("form", '"x"'),
        ("duplicate", '"twin"'),
    ]
    assert reading.fault.split("\n") == [
        "Some numbers cannot be used:",
        "- numbers[0]: numbers[0]: no number",
        "- numbers[2]: numbers[2]: is there",
        "Write the whole reply again.",
    ]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("One, two.", "the reply is no JSON"),
        ('{"numbers": [1', "the reply is no JSON"),
        ("[" * 100_000, "the reply is no JSON"),
        ([1], 'the reply is not an object with the one key "numbers"'),
        ({"numbers": [1], "more": 2}, 'the reply is not an object with the one key "numbers"'),
        ({"numbers": []}, "numbers: expected a list that is not empty"),
        ({"numbers": {"0": 1}}, "numbers: expected a list that is not empty"),
    ],
)
def test_of_another_reply_nothing_is_taken(said, reason):
    reading = read(said)
    assert reading.value is None and reading.fault.startswith(reason)


@pytest.mark.parametrize("item", ["NaN", '"\\ud800"', "[" * 500 + "]" * 500])
def test_what_no_file_can_hold_is_refused_and_can_be_shown(item):
    said = f'{{"numbers": [{item}, 1]}}'
    reading = read_list(said, "numbers", lambda value, where: str(value))
    assert [where for where, _ in reading.value.items][-1] == "numbers[1]"
    if item[0] != "[":
        assert [one.where for one in reading.value.refused] == ["numbers[0]"]
        reading.value.refused[0].said.encode()


def test_only_the_beginning_of_many_faults_and_long_items_is_repeated():
    reading = read({"numbers": ["y" * 9000] * 30})
    assert len(reading.fault.split("\n")) == 12
    assert all(len(one.said) == 500 for one in reading.value.refused)
