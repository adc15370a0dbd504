"""Invoices."""

from __future__ import annotations

from decimal import Decimal

from toolorchestra.domain.clinic.steps import open_amount
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.value import money, money_text


def list_invoices(db: Database, patient_id: str) -> list[Record]:
    """List all invoices of a patient, those that are settled too, by the day of issue.

    Args:
        patient_id: e.g. P012.
    """
    db.get("patients", patient_id)
    return sorted(db.where("invoices", patient=patient_id), key=lambda one: str(one["issued_on"]))


def pay_invoice(db: Database, invoice_id: str, amount: Decimal) -> dict[str, str]:
    """Take a patient's payment for an invoice; gives what is open after it.

    Args:
        invoice_id: Which.
        amount: Any part of what is open, e.g. 12.50.
    """
    invoice = db.get("invoices", invoice_id)
    rest = open_amount(invoice)
    if not 0 < amount <= rest:
        raise DomainError(
            f"{money_text(rest)} of the invoice is open; pay more than 0, and no more"
        )
    db.update("invoices", invoice_id, paid=money_text(money(invoice["paid"]) + amount))
    return {"open": money_text(rest - amount)}
