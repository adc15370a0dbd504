"""Whether a text gives a number: compared as values, never as text."""

from __future__ import annotations

import re
from fractions import Fraction

from toolorchestra.reward.match_extract import final_answer, plain, unwrapped
from toolorchestra.reward.match_number_parse import Number, find_numbers

_NEGATION = re.compile(r"(?:\bnot|n't|\bnever|\bneither|\bnor)\s+(?:\w+\s+)?$", re.IGNORECASE)
_NEGATION_CHARS = 40
_CONCLUSION = re.compile(r"(?:=|≈|\bis|\bare|\bequals|\bgives|\bmakes|:)\s*([^=≈:]{1,40})$")
_TOLERANCE = Fraction(1, 10**6)
"""Relative; only for values that no decimal writes out, such as 1/3."""


def _is_decimal(value: Fraction) -> bool:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _equal(gold: Number, other: Number) -> bool:
    if gold.value is None or other.value is None or gold.is_percent != other.is_percent:
        return False
    left, right = gold.value, other.value
    if gold.unit and other.unit:
        if gold.unit.dimension != other.unit.dimension:
            return False
        left, right = left * gold.unit.factor, right * other.unit.factor
    if left == right:
        return True
    if _is_decimal(left) and _is_decimal(right):
        return False
    return abs(left - right) <= _TOLERANCE * abs(left)


def _affirmed(text: str) -> list[Number]:
    """The numbers of `text` that it does not deny."""
    return [
        number
        for number in find_numbers(text)
        if not _NEGATION.search(text[max(0, number.start - _NEGATION_CHARS) : number.start])
    ]


def _only(numbers: list[Number]) -> Number | None:
    """The number that all of `numbers` are, or None where they differ or there is none."""
    if not numbers or any(not _equal(numbers[0], number) for number in numbers[1:]):
        return None
    return numbers[0]


def match_number(gold: str, answer: str) -> bool | None:
    """Whether `answer` gives the number `gold`.

    A text with several different numbers gives one only where it marks it: "Answer: x", or a last
    clause such as "so it is x". Units convert where both sides name one; a percentage equals no
    plain number.

    Returns:
        None where `gold` itself is no single number.
    """
    expected = _only(find_numbers(plain(unwrapped(gold))))
    if expected is None or expected.value is None:
        return None
    final = final_answer(answer)
    numbers = _affirmed(final.text)
    conclusion = _CONCLUSION.search(final.text)
    if _only(numbers) is None and conclusion:
        numbers = _affirmed(final.text[: conclusion.end()])
        numbers = [number for number in numbers if number.start >= conclusion.start(1)]
    given = _only(numbers)
    return given is not None and _equal(expected, given)
