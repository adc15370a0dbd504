"""All goals that a task may have, with what they weigh: a new one is one line here."""

from __future__ import annotations

from toolorchestra.domain.clinic import (
    booking_goals,
    doctor_goals,
    money_goals,
    moving_goals,
    patient_goals,
    prescription_goals,
)
from toolorchestra.domain.draw import Goal

PATIENT_GOALS = (
    Goal(template=patient_goals.ask_appointment),
    Goal(template=patient_goals.ask_share),
    Goal(template=patient_goals.change_phone),
    Goal(template=patient_goals.choose_allergies),
    Goal(template=patient_goals.choose_doctors),
    Goal(template=patient_goals.wait),
    Goal(template=patient_goals.stop_waiting),
    Goal(template=prescription_goals.ask_renewals),
    Goal(template=prescription_goals.renew),
    Goal(template=money_goals.pay_part),
    Goal(template=moving_goals.cancel),
    Goal(template=booking_goals.book_then),
    Goal(template=money_goals.ask_open, weight=2),
    Goal(template=money_goals.ask_overdue, weight=2),
    Goal(template=money_goals.ask_billed, weight=2),
    Goal(template=money_goals.pay_overdue, weight=2),
    Goal(template=prescription_goals.renew_by_another, weight=2),
    Goal(template=booking_goals.book_what_is_taken, weight=2),
    Goal(template=booking_goals.book_earliest, weight=2),
    Goal(template=moving_goals.move, weight=2),
    Goal(template=moving_goals.cancel_unless_late, weight=2),
    Goal(template=prescription_goals.stop_harmful, weight=3),
    Goal(template=prescription_goals.renew_or_visit, weight=3),
    Goal(template=booking_goals.book_preferred, weight=3),
    Goal(template=moving_goals.move_late, weight=3),
    Goal(template=booking_goals.pay_and_book, weight=4),
    Goal(template=booking_goals.book_two, weight=4),
    Goal(template=moving_goals.move_two, weight=4),
    Goal(template=moving_goals.move_all_later, weight=5),
)
DOCTOR_GOALS = (
    Goal(template=doctor_goals.ask_last),
    Goal(template=doctor_goals.ask_waiting),
    Goal(template=doctor_goals.renew_for, weight=2),
    Goal(template=doctor_goals.ask_income, weight=2),
    Goal(template=doctor_goals.hand_over, weight=2),
    Goal(template=doctor_goals.fill_gaps, weight=5),
    Goal(template=doctor_goals.take_day_off, weight=5),
)
