"""What customers want for which they have to look, read or press: each adds one goal to a task."""

from __future__ import annotations

from toolorchestra.domain.courier import named
from toolorchestra.domain.courier.cues import BUTTON, CARD, PHONE, SCREEN
from toolorchestra.domain.courier.delivery_goals import new_address
from toolorchestra.domain.database import Record
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money


def bring_again(script: Script, customer: str) -> bool:
    """Have a parcel brought again that was missed."""
    own = named.coming(script, customer, "missed")
    able = [words for words, one in own.items() if not _needs_identity(script, one, customer)]
    if not able:
        return False
    words, day = script.rng.choice(able), str(script.rng.choice(named.days(script)))
    key = own[words]["parcel_id"]
    script.ask(f"You did not meet me with the {words}: bring it again on {day}.")
    script.know("Cards of the parcel service are in your letterbox; look there when asked to.")
    script.user_does("look_into_letterbox", customer_id=customer)
    script.answer("In my letterbox I find {result}.", *CARD)
    (card,) = [one["card_id"] for one in script.every("cards") if one["parcel"] == key]
    script.do("redeliver", parcel_id=key, customer_id=customer, card_id=card, day=day)
    return True


def fetch(script: Script, customer: str) -> bool:
    """Fetch a parcel from a locker that works."""
    return _fetch(script, customer, is_stuck=False)


def fetch_from_stuck(script: Script, customer: str) -> bool:
    """Fetch a parcel from a locker that has to be restarted first."""
    return _fetch(script, customer, is_stuck=True)


def _fetch(script: Script, customer: str, *, is_stuck: bool) -> bool:
    codes = script.database.records["codes"]
    screens = script.database.records["screens"]
    own = named.coming(script, customer, "at point")
    able = [
        words
        for words, one in own.items()
        if one["parcel_id"] in codes and bool(screens[one["point"]].get("error")) == is_stuck
    ]
    if not able:
        return False
    words = script.rng.choice(able)
    key, point = own[words]["parcel_id"], own[words]["point"]
    script.ask(f"I stand before your locker {point} and want to take out the {words}.")
    script.know(f"You stand before the locker {point}; read its screen when asked to.")
    script.user_does("read_screen", point_id=point)
    script.answer("The screen says: {result}.", *SCREEN)
    if is_stuck:
        script.do("allow_restart", point_id=point, error=screens[point]["error"])
        script.know("Press its restart button when told to.")
        script.user_does("press_restart", point_id=point)
        script.answer("I have pressed the restart button; now the screen says: {result}.", *BUTTON)
    code = script.do("get_locker_code", parcel_id=key, customer_id=customer)["code"]
    script.know("Enter the code that you are told, and take the parcel.")
    script.user_does("enter_code", point_id=point, code=code)
    script.answer("I have entered it: {result}, and I have my parcel.", code)
    script.hear(code)
    return True


def _needs_identity(script: Script, parcel: Record, customer: str) -> bool:
    is_identified = script.record("customers", customer)["is_identified"]
    return named.is_precious(script, parcel) and not is_identified


def _identify(script: Script, customer: str) -> None:
    """Have the customer identified with the code that the phone shows."""
    script.do("send_code", customer_id=customer)
    script.know("Your phone lies beside you; read the code on it when asked to.")
    code = script.user_does("read_phone", customer_id=customer)
    script.answer("My phone shows the code {result}.", *PHONE)
    script.do("confirm_identity", customer_id=customer, code=str(code))


def _draw_precious(script: Script, customer: str) -> tuple[str, Record] | None:
    """A parcel for which the customer has to be identified, and its words."""
    own = named.coming(script, customer, "under way")
    first = str(named.days(script)[0])
    able = [
        words
        for words, one in own.items()
        if _needs_identity(script, one, customer) and one["due_on"] >= first
    ]
    if not able:
        return None
    words = script.rng.choice(able)
    return words, own[words]


def reschedule_precious(script: Script, customer: str) -> bool:
    """Have a parcel with much cover on a later day."""
    drawn = _draw_precious(script, customer)
    if drawn is None or drawn[1]["num_moves"] > 1:
        return False
    words, parcel = drawn
    days = named.days(script, after=parcel["due_on"])[:5]
    if not days:
        return False
    day = str(script.rng.choice(days))
    script.ask(
        f"Bring the {words} on {day} instead, even if that costs me something; do tell me how much "
        "then."
    )
    _identify(script, customer)
    call = {"parcel_id": parcel["parcel_id"], "customer_id": customer, "day": day}
    fee = script.do("reschedule_delivery", **call)["fee"]
    script.hear(*([fee] if money(fee) else []))
    return True


def redirect_precious(script: Script, customer: str) -> bool:
    """Have a parcel with much cover brought to another address."""
    drawn = _draw_precious(script, customer)
    if drawn is None or drawn[1]["service"] == "economy" or drawn[1]["goods"]:
        return False
    words, parcel = drawn
    address = new_address(script, parcel)
    script.ask(
        f"Bring the {words} to {address['street']} in {named.town_name(script, address['town_id'])}"
        " instead. When is it due there?"
    )
    _identify(script, customer)
    call = {"parcel_id": parcel["parcel_id"], "customer_id": customer, **address}
    script.hear(script.do("redirect_parcel", **call)["due_on"])
    return True


def hold_precious(script: Script, customer: str) -> bool:
    """Fetch a parcel with much cover oneself."""
    drawn = _draw_precious(script, customer)
    if drawn is None or drawn[1]["contents"] == "food":
        return False
    words, parcel = drawn
    script.ask(
        f"I would rather fetch the {words} myself: hold it at a shop or a locker of the town to "
        "which it is addressed. In which street is that?"
    )
    _identify(script, customer)
    call = {"parcel_id": parcel["parcel_id"], "customer_id": customer}
    able = [
        one["point_id"]
        for one in script.do("list_points", town_id=parcel["town"])
        if script.works("hold_at_point", **call, point_id=one["point_id"])
    ]
    if not able:
        return False
    script.hear(script.do("hold_at_point", **call, point_id=able[0])["street"])
    return True
