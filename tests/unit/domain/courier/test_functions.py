import datetime

import pytest
from tests.unit.domain.courier.stage import PARCEL, changes, fails, put, works

from toolorchestra.domain.courier.rules import working_day_after
from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.task import DomainTask

_FRIDAY, _SATURDAY, _SUNDAY, _MONDAY = "2033-06-17", "2033-06-18", "2033-06-19", "2033-06-20"


@pytest.fixture(scope="module")
def courier():
    return load_shipped("courier")


@pytest.fixture
def stage(courier):
    """Gives the desk with some more records on the stage."""

    def make(*more):
        task = DomainTask(
            id="stage",
            instruction="i",
            communicate=("x",),
            difficulty=1,
            changes=(*changes(courier), *more),
        )
        return courier.begin(task)

    return make


def _parcel(key="C001-1", **fields):
    return put("parcels", key, **{**PARCEL, **fields})


def _contact(customer, town, name="Ann Other"):
    key = f"{customer}-{'-'.join(name.split())}"
    return put("contacts", key, customer=customer, name=name, street="New Road 2", town=town)


def _owes(desk, customer):
    return desk.database.records["customers"][customer]["owes"]


@pytest.mark.parametrize(
    ("customer", "town", "service", "grams", "cover", "price"),
    [
        ("C001", "T01", "economy", 1000, "0.00", "4.30"),  # 3.40 + 0.90
        ("C001", "T01", "economy", 1001, "0.00", "5.20"),  # 3.40 + 2 * 0.90
        ("C001", "T08", "standard", 2400, "100.00", "13.75"),  # 5.20 + 3.90 + 3.80 + 0.85
        ("C001", "T12", "express", 300, "100.01", "30.60"),  # 11.70 + 2.60 + 14.60 + 2 * 0.85
        ("C003", "T01", "economy", 1000, "0.00", "3.87"),  # 4.30 less a tenth
        ("C003", "T08", "standard", 2400, "100.00", "12.46"),  # 12.90 less a tenth, and 0.85
    ],
)
def test_a_price_is_carriage_by_started_kilogram_zone_and_plan_and_cover_by_started_hundred(
    stage, customer, town, service, grams, cover, price
):
    call = {"customer_id": customer, "town_id": town, "service_id": service, "grams": grams}
    assert works(stage(), "quote_shipment", **call, cover=cover) == {"price": price}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"grams": 20_001}, "economy takes up to 20000 grams; got 20001"),
        ({"grams": 0}, "economy takes up to 20000 grams; got 0"),
        ({"cover": "500.01"}, "economy gives cover up to 500.00; got 500.01"),
        ({"cover": "-1"}, "economy gives cover up to 500.00; got -1"),
        ({"contents": "food"}, "food goes by express only"),
        ({"contents": "glass", "cover": "0.01"}, "glass has no cover"),
        ({"contents": "cash"}, "contents: expected one of clothes, books"),
        ({"contact_id": "C001-Nobody"}, "there is no 'C001-Nobody' in contacts"),
        ({"customer_id": "C002"}, "C001-Ann-Other is not in the address book of C002"),
        ({"grams": "heavy"}, "grams: expected a whole number"),
    ],
)
def test_a_shipment_that_the_rules_forbid_is_refused_with_the_reason(stage, changed, reason):
    desk = stage(_contact("C001", "T01"))
    call = {"customer_id": "C001", "contact_id": "C001-Ann-Other", "service_id": "economy"}
    call |= {"grams": 1000, "contents": "books", "cover": "0.00"}
    fails(desk, reason, "book_shipment", **{**call, **changed})
    assert desk.database.count("parcels") == 0 and _owes(desk, "C001") == "20.00"


def test_booking_charges_the_price_and_cancelling_credits_it_less_the_fee_of_private_customers(
    stage,
):
    desk = stage(_contact("C001", "T01"), _contact("C003", "T01"))
    call = {"service_id": "economy", "grams": 1000, "contents": "books", "cover": "0.00"}
    booked = {
        key: works(desk, "book_shipment", customer_id=key, contact_id=f"{key}-Ann-Other", **call)
        for key in ("C001", "C003")
    }
    assert [one["parcel_id"] for one in booked.values()] == ["C001-1", "C003-1"]
    assert (_owes(desk, "C001"), _owes(desk, "C003")) == ("24.30", "3.87")
    assert works(desk, "cancel_shipment", parcel_id="C001-1") == {"credited": "2.50"}
    assert works(desk, "cancel_shipment", parcel_id="C003-1") == {"credited": "3.87"}
    assert (_owes(desk, "C001"), _owes(desk, "C003")) == ("21.80", "0.00")
    amounts = [one["amount"] for one in works(desk, "list_charges", customer_id="C001")]
    assert amounts == ["4.30", "-2.50"]
    fails(desk, "is cancelled", "cancel_shipment", parcel_id="C001-1")


def test_a_parcel_for_a_customer_names_its_receiver(stage, courier):
    name = courier.database.records["customers"]["C002"]["name"]
    desk = stage(_contact("C001", "T01", name))
    call = {"service_id": "economy", "grams": 1000, "contents": "books", "cover": "0.00"}
    contact = f"C001-{'-'.join(name.split())}"
    booked = works(desk, "book_shipment", customer_id="C001", contact_id=contact, **call)
    assert booked["receiver"] == "C002"


@pytest.mark.parametrize(
    ("day", "reason"),
    [
        ("2033-06-15", "only days from 2033-06-17 to 2033-06-29 can"),
        ("2033-06-16", "only days from 2033-06-17 to 2033-06-29 can"),  # it is past the cut-off
        (_SUNDAY, "is a Sunday"),
        ("2033-06-30", "only days from 2033-06-17 to 2033-06-29 can"),
        ("tomorrow", "day: expected a date"),
    ],
)
def test_a_pickup_is_planned_for_days_on_which_vans_still_have_room(stage, day, reason):
    desk = stage(_parcel(status="booked", due_on=None))
    fails(desk, reason, "book_pickup", customer_id="C001", parcel_ids=["C001-1"], day=day)


def test_one_pickup_costs_a_fee_three_parcels_cost_none_and_business_customers_pay_nothing(stage):
    keys = [f"C001-{number}" for number in range(1, 5)]
    other = _parcel("C003-1", sender="C003", status="booked", due_on=None)
    desk = stage(*(_parcel(key, status="booked", due_on=None) for key in keys), other)
    call = {"customer_id": "C001", "day": _FRIDAY}
    given = works(desk, "book_pickup", **call, parcel_ids=keys[:1])
    # Standard takes three working days: Saturday, Monday, Tuesday.
    assert given == {"fee": "6.20", "due_on": {"C001-1": "2033-06-21"}}
    assert works(desk, "book_pickup", **call, parcel_ids=keys[1:])["fee"] == "0.00"
    call = {"customer_id": "C003", "day": _FRIDAY, "parcel_ids": ["C003-1"]}
    assert works(desk, "book_pickup", **call)["fee"] == "0.00"
    assert (_owes(desk, "C001"), _owes(desk, "C003")) == ("26.20", "0.00")
    fails(desk, "or it is to be fetched", "book_pickup", **call)
    fails(desk, "name at least one parcel", "book_pickup", **{**call, "parcel_ids": []})


def test_what_goes_far_is_fetched_only_once_its_goods_are_declared_for_at_least_the_cover(stage):
    desk = stage(_parcel(status="booked", town="T12", cover="150.00", due_on=None))
    pickup = {"customer_id": "C001", "parcel_ids": ["C001-1"], "day": _FRIDAY}
    fails(desk, "have to be declared first", "book_pickup", **pickup)
    call = {"parcel_id": "C001-1", "names": ["tea", "boots"]}
    fails(desk, "worth 149.99, less than", "declare_goods", **call, values=["100", "49.99"])
    fails(desk, "for each a value", "declare_goods", **call, values=["200"])
    fails(desk, "for each a value", "declare_goods", **call, values=["200", "0"])
    assert works(desk, "declare_goods", **call, values=["100", 50]) == {"total": "150.00"}
    insure = {"parcel_id": "C001-1", "cover": "180"}
    fails(desk, "declared to be worth 150.00 only", "insure_parcel", **insure)
    works(desk, "book_pickup", **pickup)


def test_cover_is_raised_only_and_the_difference_is_charged(stage):
    desk = stage(_parcel(status="booked", cover="80.00", due_on=None), _parcel("C001-2"))
    # From one started hundred to four of them: 3 * 0.85.
    call = {"parcel_id": "C001-1", "cover": "310"}
    assert works(desk, "insure_parcel", **call) == {"charged": "2.55"}
    assert desk.database.records["parcels"]["C001-1"]["price"] == "11.65"
    fails(desk, "only raised", "insure_parcel", **call)
    fails(desk, "is under way", "insure_parcel", parcel_id="C001-2", cover="310")


def test_a_new_day_is_free_once_costs_a_fee_then_and_is_not_given_a_third_time(stage):
    desk = stage(_parcel())
    call = {"parcel_id": "C001-1", "customer_id": "C002"}
    fails(desk, "the 7 days after", "reschedule_delivery", **call, day=_SATURDAY)
    fails(desk, "the 7 days after", "reschedule_delivery", **call, day="2033-06-27")
    fails(desk, "is a Sunday", "reschedule_delivery", **call, day=_SUNDAY)
    assert works(desk, "reschedule_delivery", **call, day=_MONDAY) == {"fee": "0.00"}
    assert works(desk, "reschedule_delivery", **call, day="2033-06-21") == {"fee": "2.90"}
    fails(desk, "2 times already", "reschedule_delivery", **call, day="2033-06-22")
    assert _owes(desk, "C002") == "2.90"


@pytest.mark.parametrize("due_on", ["2033-06-15", "2033-06-16"])
def test_what_is_due_too_soon_is_not_changed(stage, due_on):
    desk = stage(_parcel(due_on=due_on))
    call = {"parcel_id": "C001-1", "customer_id": "C002"}
    reason = "what is due before 2033-06-17 is not changed any more"
    fails(desk, reason, "reschedule_delivery", **call, day=_MONDAY)
    fails(desk, reason, "redirect_parcel", **call, street="x", town_id="T01")
    fails(desk, reason, "hold_at_point", **call, point_id="Q02")


@pytest.mark.parametrize(
    ("parcel", "town", "reason"),
    [
        ({"service": "economy"}, "T01", "economy parcels are not redirected"),
        ({}, "T08", "in another zone"),
        ({"goods": [{"name": "tea", "value": "5"}]}, "T01", "declared to customs"),
        ({"status": "missed"}, "T01", "is missed, not under way"),
        ({"receiver": "C003"}, "T01", "C002 is neither sender nor receiver"),
        ({"cover": "300.00"}, "T01", "C002 has to be identified first"),
        ({}, "T99", "there is no 'T99' in towns"),
    ],
)
def test_an_address_that_the_rules_forbid_is_refused_with_the_reason(stage, parcel, town, reason):
    desk = stage(_parcel(**parcel))
    call = {"parcel_id": "C001-1", "customer_id": "C002", "street": "x", "town_id": town}
    fails(desk, reason, "redirect_parcel", **call)


@pytest.mark.parametrize(
    ("customer", "town", "fee", "due_on"),
    [("C002", "T01", "4.50", _SATURDAY), ("C002", "T02", "4.50", _MONDAY),
     ("C003", "T02", "0.00", _MONDAY)],
)  # fmt: skip
def test_a_new_address_costs_private_customers_a_fee_and_another_town_a_day(
    stage, customer, town, fee, due_on
):
    desk = stage(_parcel(receiver=customer))
    call = {"parcel_id": "C001-1", "customer_id": customer, "street": "x", "town_id": town}
    assert works(desk, "redirect_parcel", **call) == {"fee": fee, "due_on": due_on}


@pytest.mark.parametrize(
    ("parcel", "point", "reason"),
    [
        ({"town": "T02"}, "Q01", "not in the parcel's town"),
        ({"grams": 5001}, "Q02", "takes up to 5000 grams"),
        ({"contents": "food"}, "Q02", "food is not held"),
        ({"cover": "250.00"}, "Q01", None),
        ({"status": "missed", "due_on": "2033-06-14"}, "Q02", None),
        ({"status": "delivered"}, "Q02", "is delivered, not under way or missed"),
    ],
)
def test_a_parcel_is_held_where_the_rules_let_it_be(stage, parcel, point, reason):
    desk = stage(_parcel(**parcel))
    call = {"parcel_id": "C001-1", "customer_id": "C002", "point_id": point}
    if reason is None:
        assert works(desk, "hold_at_point", **call)["point"] == point
    else:
        fails(desk, reason, "hold_at_point", **call)


def test_who_is_identified_by_the_code_on_the_phone_may_change_a_parcel_with_much_cover(stage):
    desk = stage(_parcel(cover="300.00"))
    hold = {"parcel_id": "C001-1", "customer_id": "C002", "point_id": "Q02"}
    fails(desk, "has to be identified first", "hold_at_point", **hold)
    code = {"customer_id": "C002", "code": "77702"}
    fails(desk, "not the code that was sent", "confirm_identity", **code)
    fails(desk, "no message on the phone", "read_phone", by="user", customer_id="C002")
    works(desk, "send_code", customer_id="C002")
    assert desk.call("read_phone", {"customer_id": "C002"}, by="user").content == "77702"
    fails(desk, "not the code", "confirm_identity", customer_id="C002", code="77701")
    works(desk, "confirm_identity", **code)
    fails(desk, "lies in no locker", "hold_at_point", **{**hold, "point_id": "Q01"})
    works(desk, "hold_at_point", **hold)


def test_a_missed_parcel_comes_again_for_the_number_of_its_card(stage):
    desk = stage(
        _parcel(status="missed", due_on="2033-06-14"),
        _parcel("C001-2", status="missed", due_on="2033-06-14"),
        put("cards", "7F-04", customer="C002", parcel="C001-1"),
        put("cards", "8F-05", customer="C002", parcel="C001-2"),
    )
    seen = works(desk, "look_into_letterbox", by="user", customer_id="C002")
    assert seen == "card 7F-04 for parcel C001-1 and card 8F-05 for parcel C001-2"
    assert works(desk, "look_into_letterbox", by="user", customer_id="C001") == "nothing"
    call = {"parcel_id": "C001-1", "customer_id": "C002"}
    fails(desk, "no card '8F-05' was left", "redeliver", **call, card_id="8F-05", day=_FRIDAY)
    fails(desk, "cannot be planned", "redeliver", **call, card_id="7F-04", day="2033-06-16")
    assert works(desk, "redeliver", **call, card_id="7F-04", day=_FRIDAY) == {"due_on": _FRIDAY}
    fails(desk, "is under way, not missed", "redeliver", **call, card_id="7F-04", day=_FRIDAY)


def test_a_locker_is_restarted_by_both_and_opened_by_the_user_with_the_code(stage):
    parcel = _parcel(status="at point", point="Q01")
    desk = stage(parcel, put("codes", "C001-1", code="4711"))
    code = {"point_id": "Q01", "code": "4711"}
    assert works(desk, "read_screen", by="user", point_id="Q01") == "error E17"
    fails(desk, "its screen shows an error", "enter_code", by="user", **code)
    fails(desk, "nothing happens", "press_restart", by="user", point_id="Q01")
    fails(desk, "does not show the error 'E18'", "allow_restart", point_id="Q01", error="E18")
    fails(desk, "there is no 'Q02' in screens", "allow_restart", point_id="Q02", error="E17")
    works(desk, "allow_restart", point_id="Q01", error="e17")
    assert works(desk, "press_restart", by="user", point_id="Q01") == "ready"
    fails(desk, "nothing happens", "press_restart", by="user", point_id="Q01")
    call = {"parcel_id": "C001-1", "customer_id": "C002"}
    assert works(desk, "get_locker_code", **call) == {"point": "Q01", "code": "4711"}
    fails(desk, "no door opens", "enter_code", by="user", point_id="Q01", code="4712")
    works(desk, "enter_code", by="user", **code)
    assert desk.database.records["parcels"]["C001-1"]["status"] == "delivered"
    fails(desk, "no door opens", "enter_code", by="user", **code)
    fails(desk, "lies in no locker", "get_locker_code", **call)


def test_a_door_opens_only_at_the_locker_where_the_parcel_lies(stage):
    desk = stage(
        _parcel(status="at point", point="Q01"),
        put("codes", "C001-1", code="4711"),
        put("screens", "Q03", error=None, is_restart_allowed=False),
    )
    fails(desk, "no door opens", "enter_code", by="user", point_id="Q03", code="4711")


def test_boxes_are_weighed_read_and_photographed_by_the_user(stage):
    desk = stage(
        _parcel(status="delivered", delivered_on="2033-06-10"),
        put("boxes", "X1", customer="C002", looks="blue box", grams=2345, label="C001-1"),
        put("boxes", "X2", customer="C002", looks="red box", grams=700),
    )
    blue, red = ({"customer_id": "C002", "looks": looks} for looks in ("Blue box", "red box"))
    assert works(desk, "weigh_box", by="user", **blue) == "2345 grams"
    assert works(desk, "read_label", by="user", **blue) == "C001-1"
    assert works(desk, "read_label", by="user", **red) == "there is no label on it"
    for _ in range(2):  # a second photo shows the same
        assert works(desk, "photograph_box", by="user", **blue) == "F-X1"
    fails(desk, "no 'green box' at your", "weigh_box", by="user", **{**blue, "looks": "green box"})
    fails(desk, "at your home", "weigh_box", by="user", **{**blue, "customer_id": "C001"})


@pytest.mark.parametrize(
    ("parcel", "changed", "reason"),
    [
        ({}, {}, None),
        ({"cover": "80.00"}, {"amount": "80.00"}, None),
        ({"cover": "80.00"}, {"amount": "80.01"}, "at most 80.00 is paid"),
        ({}, {"amount": "60.01"}, "at most 60.00 is paid"),
        ({}, {"amount": "0"}, "at most 60.00 is paid"),
        ({}, {"photo_id": "F-X2"}, "photo F-X2 does not show parcel C001-1"),
        ({}, {"photo_id": "F-X9"}, "there is no 'F-X9' in photos"),
        ({}, {"customer_id": "C003"}, "neither sender nor receiver"),
        ({"status": "under way"}, {}, "is not delivered"),
        ({"claimed": "5.00"}, {}, "was paid already"),
        ({"delivered_on": "2033-06-01"}, {}, None),  # the fourteenth day after it is today
        ({"delivered_on": "2033-05-31"}, {}, "could be claimed until 2033-06-14"),
    ],
)
def test_damage_is_paid_as_far_as_the_rules_go(stage, parcel, changed, reason):
    desk = stage(
        _parcel(**{"status": "delivered", "delivered_on": "2033-06-10", **parcel}),
        put("boxes", "X1", customer="C002", looks="blue box", grams=9, label="C001-1"),
        put("boxes", "X2", customer="C002", looks="red box", grams=9),
        put("photos", "F-X1", box="X1"),
        put("photos", "F-X2", box="X2"),
    )
    call = {"parcel_id": "C001-1", "customer_id": "C002", "photo_id": "F-X1", "amount": "60"}
    if reason is None:
        credited = works(desk, "claim_damage", **{**call, **changed})["credited"]
        assert _owes(desk, "C002") == f"-{credited}"
    else:
        fails(desk, reason, "claim_damage", **{**call, **changed})


@pytest.mark.parametrize(
    ("parcel", "credited", "reason"),
    [
        ({"service": "express"}, "9.11", None),
        ({}, "4.56", None),  # half of 9.11 is 4.555
        ({"service": "economy"}, None, "economy parcels are not refunded"),
        ({"delivered_on": "2033-06-10"}, None, "did not come late"),
        ({"is_refunded": True}, None, "was refunded already"),
        ({"status": "under way"}, None, "did not come late"),
    ],
)
def test_late_parcels_are_refunded_by_service_half_a_cent_up(stage, parcel, credited, reason):
    late = {"status": "delivered", "due_on": "2033-06-10", "delivered_on": "2033-06-11"}
    desk = stage(_parcel(**{**late, "price": "9.11", **parcel}))
    if reason is None:
        assert works(desk, "refund_late", parcel_id="C001-1") == {"credited": credited}
        fails(desk, "was refunded already", "refund_late", parcel_id="C001-1")
    else:
        fails(desk, reason, "refund_late", parcel_id="C001-1")


def test_a_round_is_for_business_customers_and_costs_each_stop_of_each_day(stage):
    names = ("Ann Other", "Bea Other", "Cy Other")
    contacts = [_contact("C003", "T01", name) for name in names]
    desk = stage(*contacts, _contact("C003", "T08", "Far Other"), _contact("C001", "T01"))
    stops = [one.key for one in contacts]
    call = {"customer_id": "C003", "weekdays": ["Monday", "Friday"], "stops": stops}
    # 3 stops on 2 days: 6 * 1.35.
    assert works(desk, "set_round", **call) == {"weekly_fee": "8.10"}
    works(desk, "set_round", **{**call, "stops": stops[:1]})
    assert works(desk, "get_round", customer_id="C003")["stops"] == stops[:1]
    for changed, reason in (
        ({"stops": []}, "at least one, at most 6"),
        ({"stops": stops[:1] * 2}, "each once"),
        ({"stops": ["C003-Far-Other"]}, "not in the home zone"),
        ({"stops": ["C001-Ann-Other"]}, "not in the address book of C003"),
        ({"weekdays": []}, "name at least one, and each once"),
        ({"weekdays": ["Monday"] * 2}, "each once"),
        ({"weekdays": ["Sunday"]}, "expected one of Monday"),
        ({"customer_id": "C001"}, "for business customers only"),
    ):
        fails(desk, reason, "set_round", **{**call, **changed})
    works(desk, "end_round", customer_id="C003")
    fails(desk, "no 'C003' in rounds", "end_round", customer_id="C003")


def test_lookups_find_people_points_and_parcels_and_say_what_is_not_there(stage, courier):
    desk = stage(_parcel(), _parcel("C001-2", receiver=None), _parcel("C003-1", sender="C003"))
    name = courier.database.records["customers"]["C002"]["name"]
    assert works(desk, "find_customer", name=f" {name.upper()} ")["customer_id"] == "C002"
    fails(desk, "nobody in customers is called 'Nobody'", "find_customer", name="Nobody")
    found = works(desk, "list_parcels", customer_id="C002")
    assert [one["parcel_id"] for one in found] == ["C001-1", "C003-1"]
    assert len(works(desk, "list_parcels", customer_id="C001")) == 2
    kinds = {
        kind: [one["point_id"] for one in works(desk, "list_points", town_id="T01", kind=kind)]
        for kind in ("locker", "shop")
    }
    assert "Q01" in kinds["locker"] and "Q02" in kinds["shop"] and "Q02" not in kinds["locker"]
    fails(desk, "no 'T99' in towns", "list_points", town_id="T99")
    assert works(desk, "get_tariff")["office"]["redirect_fee"] == "4.50"
    fails(desk, "there is no 'C009-9' in parcels", "trace_parcel", parcel_id="C009-9")


def test_a_contact_has_the_same_key_whatever_was_added_before(stage):
    desk = stage()
    call = {"customer_id": "C001", "street": "x", "town_id": "T01"}
    works(desk, "add_contact", **call, name="Bea Other")
    assert works(desk, "add_contact", **call, name="Ann Other")["contact_id"] == "C001-Ann-Other"
    fails(desk, "exists already", "add_contact", **call, name="Ann  Other")


def test_working_days_leave_sundays_out():
    friday = datetime.date(2033, 6, 17)
    assert working_day_after(friday, 0) == friday
    assert str(working_day_after(friday, 2)) == "2033-06-20"
    assert str(working_day_after(friday, 7)) == "2033-06-25"
