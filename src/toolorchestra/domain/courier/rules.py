"""Days and prices: plain rules over records, for the functions and for the generator of records."""

from __future__ import annotations

import datetime
import math
from decimal import ROUND_HALF_UP, Decimal

from toolorchestra.domain.database import Record
from toolorchestra.domain.value import money

_CENT = Decimal("0.01")
_DAY = datetime.timedelta(days=1)
_SUNDAY = 6


def is_working(day: datetime.date) -> bool:
    """Whether vans drive on a day."""
    return day.weekday() != _SUNDAY


def working_day_after(day: datetime.date, num_days: int) -> datetime.date:
    """The day that comes `num_days` working days after another."""
    while num_days:
        day += _DAY
        num_days -= is_working(day)
    return day


def first_day(office: Record) -> datetime.date:
    """The first day for which anything can still be planned."""
    today = datetime.date.fromisoformat(office["today"])
    return working_day_after(today, 1 if office["time"] < office["cut_off"] else 2)


def day_problem(office: Record, day: datetime.date) -> str | None:
    """Why nothing can be planned for a day."""
    last = datetime.date.fromisoformat(office["today"]) + office["days_ahead"] * _DAY
    if not is_working(day):
        return f"{day} is a Sunday: vans drive Monday to Saturday"
    if not first_day(office) <= day <= last:
        return f"{day} cannot be planned: only days from {first_day(office)} to {last} can"
    return None


def cover_fee(office: Record, cover: Decimal) -> Decimal:
    """What insurance for that much costs."""
    return money(office["cover_step_fee"]) * math.ceil(cover / 100)


def price_of(
    office: Record, service: Record, zone: Record, *, plan: str, grams: int, cover: Decimal
) -> Decimal:
    """What a shipment costs a customer of that plan."""
    carriage = money(service["base"]) + money(service["per_kg"]) * math.ceil(grams / 1000)
    carriage += money(zone["surcharge"])
    if plan == "business":
        carriage = carriage * (100 - office["business_percent"]) / 100
    return carriage + cover_fee(office, cover)


def late_refund(service: Record, price: Decimal) -> Decimal:
    """What of the price of a shipment goes back when it came late."""
    share: Decimal = price * service["late_percent"] / 100
    return share.quantize(_CENT, ROUND_HALF_UP)


def most_paid(office: Record, parcel: Record) -> Decimal:
    """What is paid for damage at most."""
    return money(parcel["cover"]) or money(office["plain_cover"])
