"""Planted mutations of a correct rollout, each with the verdict that it deserves."""

import pytest
from tests.unit.domain.courier.stage import PARCEL, changes, put

from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.task import Action, DomainTask
from toolorchestra.domain.verify import verify

_FRIDAY = "2033-06-17"


def _policy(name, **arguments):
    return Action(name=name, arguments=arguments)


def _user(name, **arguments):
    return Action(name=name, arguments=arguments, by="user")


_BOX = {"customer_id": "C002", "looks": "blue box"}
_CLAIM = {"parcel_id": "C001-1", "customer_id": "C002", "photo_id": "F-X1"}
_LABEL = _user("read_label", **_BOX)
_PHOTO = _user("photograph_box", **_BOX)
_PAID = _policy("claim_damage", **_CLAIM, amount="60.00")
_PRESS = _user("press_restart", point_id="Q01")
_ALLOW = _policy("allow_restart", point_id="Q01", error="E17")
_CODE = _policy("get_locker_code", parcel_id="C001-2", customer_id="C002")
_OPEN = _user("enter_code", point_id="Q01", code="4711")
_PLACES = _policy("set_drop_places", customer_id="C002", places=["shed", "porch"])
_ROUND = _policy(
    "set_round", customer_id="C003", weekdays=["Monday", "Friday"], stops=["C003-A", "C003-B"]
)
_TAKE_OUT = [_ALLOW, _PRESS, _CODE, _OPEN]
_WHOLE = [_LABEL, _PHOTO, _PAID, *_TAKE_OUT, _PLACES, _ROUND]
_SAID = "You get 60.00, and the code is 4711."


@pytest.fixture(scope="module")
def courier():
    return load_shipped("courier")


@pytest.fixture(scope="module")
def task(courier):
    """Damage is paid, a locker is restarted and opened, drop places and a round change."""
    delivered = {**PARCEL, "status": "delivered", "delivered_on": "2033-06-10"}
    lying = {**PARCEL, "status": "at point", "point": "Q01"}
    contact = {"customer": "C003", "street": "Long Road 1", "town": "T01"}
    return DomainTask(
        id="mutated",
        instruction="all of it",
        actions=tuple(_WHOLE),
        communicate=("60.00", "4711"),
        difficulty=5,
        changes=(
            *changes(courier),
            put("parcels", "C001-1", **{**delivered, "due_on": "2033-06-10"}),
            put("parcels", "C001-2", **lying),
            put("codes", "C001-2", code="4711"),
            put("boxes", "X1", customer="C002", looks="blue box", grams=2400, label="C001-1"),
            put("contacts", "C003-A", **contact, name="A"),
            put("contacts", "C003-B", **contact, name="B"),
        ),
    )


def _without(*actions):
    return [action for action in _WHOLE if action not in actions]


def _instead(old, *new):
    place = _WHOLE.index(old)
    return [*_WHOLE[:place], *new, *_WHOLE[place + 1 :]]


def _by_policy(action):
    return Action(name=action.name, arguments=action.arguments)


_MUTATIONS = {
    "nothing": (_WHOLE, _SAID, True),
    "the user never photographs": (_without(_PHOTO), _SAID, False),
    "the policy photographs by itself": (_instead(_PHOTO, _by_policy(_PHOTO)), _SAID, False),
    "the user never opens the locker": (_without(_OPEN), _SAID, False),
    "the policy opens the locker by itself": (_instead(_OPEN, _by_policy(_OPEN)), _SAID, False),
    "the policy tries it first and then lets the user": (
        _instead(_OPEN, _by_policy(_OPEN), _OPEN),
        _SAID,
        True,
    ),
    "the user presses before it is allowed": (
        [*_WHOLE[:3], _PRESS, _ALLOW, _CODE, _OPEN, _PLACES, _ROUND],
        _SAID,
        False,
    ),
    "the user presses too early and again": (
        [*_WHOLE[:3], _PRESS, *_TAKE_OUT, _PLACES, _ROUND],
        _SAID,
        True,
    ),
    "a label that nobody reads": (
        # The photo and the claim touch the box and the parcel all the same.
        _without(_LABEL),
        _SAID,
        True,
    ),
    "more than is paid without cover": (
        _instead(_PAID, _policy("claim_damage", **_CLAIM, amount="60.01")),
        _SAID,
        False,
    ),
    "too much first, and then what the rules give": (
        _instead(_PAID, _policy("claim_damage", **_CLAIM, amount="100"), _PAID),
        _SAID,
        True,
    ),
    "a cent too little": (
        _instead(_PAID, _policy("claim_damage", **_CLAIM, amount="59.99")),
        _SAID,
        False,
    ),
    "an extra write of the user": (
        [*_WHOLE, _user("photograph_box", customer_id="C002", looks="red box")],
        _SAID,
        True,  # there is no red box, so nothing came of it
    ),
    "an extra write of the policy": (
        [*_WHOLE, _policy("send_code", customer_id="C002")],
        _SAID,
        False,
    ),
    "weekdays, which have no order, reordered": (
        _instead(
            _ROUND,
            _policy(
                "set_round",
                customer_id="C003",
                weekdays=["Friday", "Monday"],
                stops=["C003-A", "C003-B"],
            ),
        ),
        _SAID,
        True,
    ),
    "stops reordered": (
        _instead(
            _ROUND,
            _policy(
                "set_round",
                customer_id="C003",
                weekdays=["Monday", "Friday"],
                stops=["C003-B", "C003-A"],
            ),
        ),
        _SAID,
        False,
    ),
    "drop places reordered": (
        _instead(_PLACES, _policy("set_drop_places", customer_id="C002", places=["porch", "shed"])),
        _SAID,
        False,
    ),
    "the code is not told": (_WHOLE, "You get 60.00.", False),
    "the amount in other words": (_WHOLE, "You get sixty; the code is 4711.", True),
    "a number inside another number": (_WHOLE, "You get 160.00, and the code is 4711.", False),
}


@pytest.mark.parametrize("mutation", _MUTATIONS)
def test_a_mutation_gets_the_verdict_that_it_deserves(courier, task, mutation):
    actions, message, is_solved = _MUTATIONS[mutation]
    verdict = verify(courier, task, actions=actions, messages=[message])
    assert verdict.is_solved is is_solved, str(verdict)
    assert verdict.is_solved or "\n" in str(verdict)  # it says why


def test_a_photo_that_the_user_was_not_asked_for_is_missed_where_it_would_lie(courier, task):
    verdict = verify(courier, task, actions=_without(_PHOTO), messages=[_SAID])
    assert ("photos", "F-X1") in verdict.unwritten
    assert any(change.collection == "photos" for change in verdict.changes)


def test_a_call_of_the_users_function_by_the_policy_is_refused_like_a_tool_that_is_not(courier):
    (task, *_) = courier.tasks.values()
    outcome = courier.begin(task).call("read_phone", {"customer_id": "C001"})
    assert not outcome.is_ok and outcome.content.startswith("there is no tool 'read_phone'; use ")
