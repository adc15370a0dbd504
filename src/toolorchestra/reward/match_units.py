"""Units behind numbers: equal amounts in other units match, equal figures in other units do not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A unit as a multiple of its dimension's base unit."""

    dimension: str
    factor: Fraction


_TABLE = {
    "length": "mm millimeter millimetre=1/1000 cm centimeter centimetre=1/100 m meter metre=1 "
    "km kilometer kilometre=1000 inch inches=127/5000 ft foot feet=381/1250 yd yard=1143/1250 "
    "mi mile=201168/125",
    "mass": "mg milligram=1/1000 g gram=1 kg kilogram=1000 oz ounce=45359237/1600000 "
    "lb lbs=45359237/100000",
    "speed": "m/s=1 km/h kph=5/18 mph=1397/3125",
    "time": "s sec second=1 min minute=60 h hr hour=3600 day=86400 week=604800",
    "volume": "ml milliliter millilitre=1/1000 l liter litre=1",
    "dollar": "$ usd dollar=1 cent=1/100",
    "euro": "€ eur euro=1",
    "pound": "£ gbp=1",
    "yen": "¥ jpy yen=1",
}
"""By dimension: names of a unit, then the factor to the base unit."""


def _read_table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for dimension, row in _TABLE.items():
        names: list[str] = []
        for item in row.split():
            name, _, factor = item.partition("=")
            names.append(name)
            if factor:
                unit = Unit(dimension=dimension, factor=Fraction(factor))
                plurals = [f"{name}s" for name in names if len(name) > 2]
                units.update(dict.fromkeys([*names, *plurals], unit))
                names = []
    return units


_UNITS = _read_table()
_BEHIND = re.compile(r"[ -]?(?P<name>[a-z]+(?:/[hs]\b)?)\b(?:\^\{?(?P<power>[23])\}?(?!\w))?")


def unit_behind(text: str, end: int) -> Unit | None:
    """The unit that follows a number which ends at `end`, or None where no known one does."""
    match = _BEHIND.match(text.lower(), end)
    unit = _UNITS.get(match["name"]) if match else None
    if unit is None or not match or not match["power"]:
        return unit
    power = int(match["power"])
    return Unit(dimension=f"{unit.dimension}^{power}", factor=unit.factor**power)


def unit_of_symbol(symbol: str) -> Unit | None:
    """The unit of a currency sign such as "$"."""
    return _UNITS.get(symbol)
