import datetime
from decimal import Decimal
from typing import Literal

import pytest

from toolorchestra.domain.argument import (
    read_annotation,
    read_argument,
    told_annotation,
    told_argument,
)

_ALL = [
    str,
    int,
    bool,
    Decimal,
    datetime.date,
    Literal["a", "b"],
    list[str],
    list[list[Decimal]],
    str | None,
    Literal["a"] | None,
    list[int | None] | None,
]


@pytest.mark.parametrize("annotation", _ALL)
def test_an_annotation_that_is_told_is_read_as_the_same(annotation):
    assert read_annotation(told_annotation(annotation)) == annotation


@pytest.mark.parametrize(
    "told",
    [
        "bytes", "", None, 3, [], ["list"], ["list", "text", "text"], ["choice"], ["choice", 3],
        ["optional", "x"], {"list": "text"}, ["list", ["list"] * 2],
    ],
)  # fmt: skip
def test_what_tells_of_no_annotation_is_refused(told):
    with pytest.raises(ValueError, match="is no annotation"):
        read_annotation(told)


def test_annotations_are_not_nested_without_end():
    told = "text"
    for _ in range(5000):
        told = ["list", told]
    with pytest.raises(ValueError, match="is no annotation"):
        read_annotation(told)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Decimal, "10.50"),
        (Decimal, "-0.000000"),
        (Decimal, "999999999999999.999999"),
        (datetime.date, "2031-05-14"),
        (list[Decimal], ["1", "0.000001"]),
        (str | None, None),
        (bool, True),
        (int, 3),
    ],
)
def test_a_value_that_was_read_is_told_as_it_was(annotation, value):
    assert told_argument(read_argument(annotation, value, "x")) == value
