"""Money back: damage, and parcels that came late."""

from __future__ import annotations

import datetime
from decimal import Decimal

from toolorchestra.domain.courier.rules import late_refund, most_paid
from toolorchestra.domain.courier.steps import charge, office
from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.lookup import one
from toolorchestra.domain.value import money, money_text


def claim_damage(
    db: Database, parcel_id: str, customer_id: str, photo_id: str, amount: Decimal
) -> dict[str, str]:
    """Pay for damage to a parcel that was delivered; gives what is credited.

    Args:
        parcel_id: Which.
        customer_id: Who claims it.
        photo_id: The number of the customer's photo of it.
        amount: What is to be paid, which the rules limit.
    """
    parcel, rules = db.get("parcels", parcel_id), office(db)
    if customer_id not in (parcel["sender"], parcel.get("receiver")):
        raise DomainError(f"{customer_id} is neither sender nor receiver of {parcel_id}")
    if parcel["status"] != "delivered" or parcel.get("claimed") is not None:
        raise DomainError(f"parcel {parcel_id} is not delivered, or damage was paid already")
    last = datetime.date.fromisoformat(parcel["delivered_on"])
    last += datetime.timedelta(days=rules["claim_days"])
    if datetime.date.fromisoformat(rules["today"]) > last:
        raise DomainError(f"damage to parcel {parcel_id} could be claimed until {last}")
    box = one(db, "boxes", one(db, "photos", photo_id)["box"])
    if box.get("label") != parcel_id:
        raise DomainError(f"photo {photo_id} does not show parcel {parcel_id}")
    most = most_paid(rules, parcel)
    if not 0 < amount <= most:
        raise DomainError(f"at most {money_text(most)} is paid for parcel {parcel_id}")
    db.update("parcels", parcel_id, claimed=money_text(amount))
    charge(db, customer_id, -amount, "damage", parcel_id)
    return {"credited": money_text(amount)}


def refund_late(db: Database, parcel_id: str) -> dict[str, str]:
    """Refund the sender of a parcel that came late; gives what is credited.

    Args:
        parcel_id: Which.
    """
    parcel = db.get("parcels", parcel_id)
    if parcel["status"] != "delivered" or parcel["delivered_on"] <= parcel["due_on"]:
        raise DomainError(f"parcel {parcel_id} did not come late")
    if parcel["is_refunded"]:
        raise DomainError(f"parcel {parcel_id} was refunded already")
    credit = late_refund(one(db, "services", parcel["service"]), money(parcel["price"]))
    if not credit:
        raise DomainError(f"{parcel['service']} parcels are not refunded")
    db.update("parcels", parcel_id, is_refunded=True)
    charge(db, parcel["sender"], -credit, "late delivery", parcel_id)
    return {"credited": money_text(credit)}
