"""All numbers in a text, whatever way they are written.

A digit that belongs to a word or an identifier ("W1042", "v2.1") is no number; a dash between two
numbers is no sign. Separators are read as people write them: groups of three are thousands,
anything else behind one comma is a decimal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from toolorchestra.number_words import SCALES, words_to_numbers
from toolorchestra.reward.match_units import Unit, unit_behind, unit_of_symbol

_MAX_EXPONENT = 400
_MAX_DIGITS = 400

_NUMBER = re.compile(
    r"(?<![\w#^])(?<!\^\{)(?<!\w[.,])"
    r"(?P<sign>(?<![\w)\]])[+-] ?)?(?P<currency>[$€£¥] ?)?(?P<inner_sign>(?<=[$€£¥])-)?"
    r"(?P<digits>\d{1,3}(?:[ _'’]\d{3})+(?!\d)(?:\.\d+)?|\d[\d.,]*\d|\d|\.\d+)"
    r"(?:[eE](?P<exponent>[+-]?\d+)(?!\w))?"
    r"(?:\^\{?(?P<power>-?\d+)\}?|\*\*(?P<python_power>-?\d+))?"
    r"(?: ?(?:[x×*]|\\times) ?10(?:\^|\*\*)\{?(?P<ten_power>-?\d+)\}?)?"
    r"(?: ?/ ?(?P<denominator>\d+)(?![\d/.]))?"
)
_OPEN_BRACKET = re.compile(r"[(\[{][^)\]}]*$")
_BRACKET_CHARS = 80
_PERCENT = re.compile(r" ?(?:\\?%|(?:percent|per cent|percentage|pct)\b)", re.IGNORECASE)
_SCALE = re.compile(rf" (?P<scale>{'|'.join(SCALES)})\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """One number in a text."""

    start: int
    end: int
    value: Fraction | None
    """None where it is written as a number but too large or too odd to compute."""
    is_percent: bool = False
    unit: Unit | None = None


def _plain_digits(digits: str, *, is_in_brackets: bool) -> str | None:
    """`digits` with a decimal point and no other separator; None where they are no number."""
    if re.search(r"[ _'’]", digits):
        return re.sub(r"[ _'’]", "", digits)
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        return digits.replace(",", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3}){2,}", digits) or re.fullmatch(
        r"\d{1,3}(\.\d{3})+,\d+", digits
    ):
        return digits.replace(".", "").replace(",", ".")
    if re.fullmatch(r"\d+,\d+", digits) and not is_in_brackets:
        return digits.replace(",", ".")
    return digits if re.fullmatch(r"\d*\.?\d+", digits) else None


def _compute(match: re.Match[str], *, is_in_brackets: bool) -> Fraction | None:
    digits = _plain_digits(match["digits"], is_in_brackets=is_in_brackets)
    if digits is None or len(digits) > _MAX_DIGITS:
        return None
    value = Fraction(digits)
    power = match["power"] or match["python_power"]
    exponents = [text for text in (match["exponent"], power, match["ten_power"]) if text]
    if any(len(text) > 4 or abs(int(text)) > _MAX_EXPONENT for text in exponents):
        return None
    if match["exponent"]:
        value *= Fraction(10) ** int(match["exponent"])
    if power:
        if value == 0 or len(digits) > 12:
            return None
        value = value ** int(power)
    if match["ten_power"]:
        value *= Fraction(10) ** int(match["ten_power"])
    if match["denominator"]:
        denominator = match["denominator"]
        if len(denominator) > _MAX_DIGITS or int(denominator) == 0:
            return None
        value /= int(denominator)
    is_negative = ((match["sign"] or "").startswith("-")) != bool(match["inner_sign"])
    return -value if is_negative else value


def _finish(text: str, number: Number) -> Number:
    """`number` with the percent sign or the unit that follows it."""
    if percent := _PERCENT.match(text, number.end):
        return Number(start=number.start, end=percent.end(), value=number.value, is_percent=True)
    unit = number.unit or unit_behind(text, number.end)
    return Number(start=number.start, end=number.end, value=number.value, unit=unit)


def _number_in_digits(text: str, match: re.Match[str]) -> Number:
    before = text[max(0, match.start() - _BRACKET_CHARS) : match.start()]
    is_in_brackets = _OPEN_BRACKET.search(before) is not None
    value, end = _compute(match, is_in_brackets=is_in_brackets), match.end()
    if scale := _SCALE.match(text, end):
        end = scale.end()
        value = None if value is None else value * SCALES[scale["scale"].lower()]
    unit = unit_of_symbol((match["currency"] or "").strip())
    return _finish(text, Number(start=match.start(), end=end, value=value, unit=unit))


def find_numbers(text: str) -> list[Number]:
    """All numbers in `text`, in order.

    Number words count only where no digits are found: "one" is mostly no number.

    Args:
        text: As `match_extract.plain` leaves it.
    """
    found = [_number_in_digits(text, match) for match in _NUMBER.finditer(text)]
    if found:
        return found
    return [
        _finish(text, Number(start=start, end=end, value=value))
        for start, end, value in words_to_numbers(text)
    ]
