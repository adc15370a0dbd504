"""What patients want with their invoices: each function adds one goal to a task."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from toolorchestra.domain.clinic import named
from toolorchestra.domain.clinic.steps import is_overdue, open_amount
from toolorchestra.domain.clinic.stock import TODAY
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def overdue_invoices(script: Script, patient: str) -> list[Record]:
    """What a patient should have paid by now, the longest due first."""
    own = [one for one in script.every("invoices") if one["patient"] == patient]
    overdue = [one for one in own if is_overdue(one, TODAY)]
    return sorted(overdue, key=lambda one: str(one["due_on"]))


def _total(amounts: Iterable[Decimal]) -> str:
    return money_text(sum(amounts, Decimal(0)))


def ask_open(script: Script, patient: str) -> bool:
    """What all invoices together still cost."""
    invoices = script.do("list_invoices", patient_id=patient)
    if sum(open_amount(one) > 0 for one in invoices) < 2:
        return False
    total = _total(open_amount(one) for one in invoices)
    script.ask("How much do I still owe the clinic on all my invoices together?", total)
    return True


def ask_overdue(script: Script, patient: str) -> bool:
    """What of it is overdue."""
    invoices = script.do("list_invoices", patient_id=patient)
    overdue = overdue_invoices(script, patient)
    if not overdue or len(overdue) == sum(open_amount(one) > 0 for one in invoices):
        return False
    total = _total(open_amount(one) for one in overdue)
    script.ask(
        "How much of what I owe you is overdue, and on which day was the oldest of it due?",
        total,
        overdue[0]["due_on"],
    )
    return True


def ask_billed(script: Script, patient: str) -> bool:
    """What was billed in the last months, and what the insurance paid of it."""
    invoices = script.do("list_invoices", patient_id=patient)
    since = script.rng.choice(("2031-10-01", "2031-11-01", "2031-12-01", "2032-01-01"))
    some = [one for one in invoices if one["issued_on"] >= since]
    if not 2 <= len(some) < len(invoices) or not any(money(one["covered"]) for one in some):
        return False
    script.ask(
        f"For my tax papers: what do the invoices that you issued me since {since} come to before "
        "any insurance, and how much of that does my insurance pay?",
        _total(money(one["amount"]) for one in some),
        _total(money(one["covered"]) for one in some),
    )
    return True


def pay_part(script: Script, patient: str) -> bool:
    """Pay some of an invoice."""
    invoices = named.invoices(script, patient)
    able = [words for words, one in invoices.items() if open_amount(one) > 2]
    if not able:
        return False
    words = script.rng.choice(able)
    cents = script.rng.randint(100, int(open_amount(invoices[words]) * 100) - 1)
    paid = money_text(Decimal(cents) / 100)
    rest = script.do("pay_invoice", invoice_id=invoices[words]["invoice_id"], amount=paid)["open"]
    script.ask(f"I pay {paid} of the invoice for {words}. How much of it is left?", rest)
    return True


def pay_overdue(script: Script, patient: str) -> bool:
    """Pay all that is overdue."""
    overdue = overdue_invoices(script, patient)
    if not overdue:
        return False
    script.do("list_invoices", patient_id=patient)
    total = _total(open_amount(one) for one in overdue)
    for invoice in overdue:
        amount = money_text(open_amount(invoice))
        script.do("pay_invoice", invoice_id=invoice["invoice_id"], amount=amount)
    script.ask("I pay all that is overdue of my invoices; tell me how much that is.", total)
    return True
