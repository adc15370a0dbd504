"""What customers want back: each function adds one goal to a task."""

from __future__ import annotations

import datetime

from toolorchestra.domain.courier import named
from toolorchestra.domain.courier.cues import LABEL, PHOTO
from toolorchestra.domain.courier.rules import most_paid
from toolorchestra.domain.courier.sending_goals import total
from toolorchestra.domain.courier.stock import TODAY
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def refund(script: Script, customer: str) -> bool:
    """Get money back for a parcel that came late."""
    own = named.sent(script, customer, "delivered")
    able = [
        words
        for words, one in own.items()
        if script.works("refund_late", parcel_id=one["parcel_id"])
    ]
    if not able:
        return False
    words = script.rng.choice(able)
    credit = script.do("refund_late", parcel_id=own[words]["parcel_id"])["credited"]
    script.ask(f"My {words} came late: refund what your rules give me. How much is it?", credit)
    return True


def refund_what_is_not(script: Script, customer: str) -> bool:
    """Ask for a refund that the rules do not give."""
    own = named.sent(script, customer, "delivered")
    unable = [
        words
        for words, one in own.items()
        if not script.works("refund_late", parcel_id=one["parcel_id"])
    ]
    if not unable:
        return False
    words = script.rng.choice(unable)
    script.do("trace_parcel", parcel_id=own[words]["parcel_id"])
    script.ask(
        f"I think that my {words} came late: refund me, if your rules let you. If not, tell me "
        "when it was due and when it was delivered.",
        own[words]["due_on"],
        own[words]["delivered_on"],
    )
    return True


def refund_all(script: Script, customer: str) -> bool:
    """Get money back for all that came late."""
    own = [
        one["parcel_id"]
        for one in script.every("parcels")
        if one["sender"] == customer and one["status"] == "delivered"
    ]
    able = [key for key in own if script.works("refund_late", parcel_id=key)]
    if len(able) < 2 or len(able) == len(own):
        return False
    script.do("list_parcels", customer_id=customer)
    given = [script.do("refund_late", parcel_id=key)["credited"] for key in able]
    script.ask(
        "Look through all that I have sent: refund whatever came late, as far as your rules do. "
        "How much is it in all?",
        total(given),
    )
    return True


def ask_box(script: Script, customer: str) -> bool:
    """When a box should have come."""
    boxes = named.boxes(script, customer, is_labelled=True)
    if not boxes:
        return False
    box = script.rng.choice(boxes)
    script.ask(f"There is a {box['looks']} from you at my home. On which day was it due?")
    parcel = _read_label(script, box)
    script.do("trace_parcel", parcel_id=parcel["parcel_id"])
    script.hear(parcel["due_on"])
    return True


def _read_label(script: Script, box: Record) -> Record:
    """Let the customer read a label; gives the parcel."""
    script.know(f"Your {box['looks']} stands at your home; you can read its label when asked to.")
    script.user_does("read_label", customer_id=box["customer"], looks=box["looks"])
    script.answer(f"On the label of my {box['looks']} I read {{result}}.", *LABEL)
    return script.record("parcels", box["label"])


def _photograph(script: Script, box: Record) -> str:
    script.know("You can photograph the damage when asked to.")
    photo = script.user_does("photograph_box", customer_id=box["customer"], looks=box["looks"])
    script.answer("I have sent you the photo {result}.", *PHOTO)
    return str(photo)


def _draw_damage(script: Script, customer: str, *, is_in_time: bool) -> Record | None:
    """A box whose damage can be claimed, or could have been."""
    days = script.record("office", "main")["claim_days"]
    first = str(TODAY - datetime.timedelta(days=days))
    parcels = script.database.records["parcels"]
    boxes = [
        box
        for box in named.boxes(script, customer, is_labelled=True)
        if (parcels[box["label"]]["delivered_on"] >= first) == is_in_time
        and "claimed" not in parcels[box["label"]]
    ]
    return script.rng.choice(boxes) if boxes else None


def _claim(script: Script, customer: str, *, is_too_much: bool) -> bool:
    box = _draw_damage(script, customer, is_in_time=True)
    if box is None:
        return False
    most = most_paid(script.record("office", "main"), script.record("parcels", box["label"]))
    cents = script.rng.randint(1_000, int(most * 100) - 500)
    amount = money_text(most + 40) if is_too_much else money_text(money(str(cents)) / 100)
    script.ask(
        f"The {box['looks']} that you brought me came damaged: I want {amount} for that, or as "
        "much of it as your rules give me. How much do I get?"
    )
    parcel = _read_label(script, box)
    call = {"parcel_id": parcel["parcel_id"], "customer_id": customer}
    if is_too_much:
        script.do("trace_parcel", parcel_id=parcel["parcel_id"])
    call |= {"photo_id": _photograph(script, box)}
    paid = money_text(most) if is_too_much else amount
    script.do("claim_damage", **call, amount=paid)
    script.hear(*([paid] if is_too_much else []))
    return True


def claim(script: Script, customer: str) -> bool:
    """Be paid for damage."""
    return _claim(script, customer, is_too_much=False)


def claim_too_much(script: Script, customer: str) -> bool:
    """Be paid for damage as far as the cover goes."""
    return _claim(script, customer, is_too_much=True)


def claim_too_late(script: Script, customer: str) -> bool:
    """Ask to be paid for damage after the days for that."""
    box = _draw_damage(script, customer, is_in_time=False)
    if box is None:
        return False
    script.ask(
        f"The {box['looks']} that you brought me some time ago came damaged: I want 45.00 for it. "
        "If your rules forbid it, tell me until which day I could have claimed it."
    )
    parcel = _read_label(script, box)
    script.do("trace_parcel", parcel_id=parcel["parcel_id"])
    last = datetime.date.fromisoformat(parcel["delivered_on"])
    last += datetime.timedelta(days=script.record("office", "main")["claim_days"])
    script.hear(str(last))
    return True
