"""What a customer can do and the desk cannot: look, read, weigh, photograph, press, open."""

from __future__ import annotations

from toolorchestra.domain.courier.steps import office
from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.fault import DomainError


def look_into_letterbox(db: Database, customer_id: str) -> str:
    """Look into your letterbox for cards of the parcel service.

    Args:
        customer_id: Your customer number.
    """
    cards = db.where("cards", customer=customer_id)
    shown = [f"card {card['card_id']} for parcel {card['parcel']}" for card in cards]
    return " and ".join(shown) or "nothing"


def read_phone(db: Database, customer_id: str) -> str:
    """Read the code that the parcel service sent to your phone.

    Args:
        customer_id: Your customer number.
    """
    phone = db.get("phones", customer_id)
    if not phone["is_sent"]:
        raise DomainError("there is no message on the phone")
    return str(phone["code"])


def weigh_box(db: Database, customer_id: str, looks: str) -> str:
    """Weigh a box that stands at your home.

    Args:
        customer_id: Your customer number.
        looks: Which, e.g. blue box.
    """
    return f"{_box(db, customer_id, looks)['grams']} grams"


def read_label(db: Database, customer_id: str, looks: str) -> str:
    """Read the parcel number on the label of a box that stands at your home.

    Args:
        customer_id: Your customer number.
        looks: Which, e.g. blue box.
    """
    return str(_box(db, customer_id, looks).get("label") or "there is no label on it")


def photograph_box(db: Database, customer_id: str, looks: str) -> str:
    """Photograph a box and send the photo to the parcel service; gives the photo's number.

    Args:
        customer_id: Your customer number.
        looks: Which, e.g. blue box.
    """
    box = _box(db, customer_id, looks)
    photo_id = f"F-{box['box_id']}"
    if not db.has("photos", photo_id):
        db.add("photos", {"photo_id": photo_id, "box": box["box_id"]})
    return photo_id


def read_screen(db: Database, point_id: str) -> str:
    """Read what the screen of the locker shows before which you stand.

    Args:
        point_id: The number on the locker, e.g. Q07.
    """
    error = db.get("screens", point_id).get("error")
    return "ready" if error is None else f"error {error}"


def press_restart(db: Database, point_id: str) -> str:
    """Press the restart button of the locker before which you stand.

    Args:
        point_id: The number on the locker, e.g. Q07.
    """
    if not db.get("screens", point_id)["is_restart_allowed"]:
        raise DomainError("nothing happens")
    db.update("screens", point_id, error=None, is_restart_allowed=False)
    return "ready"


def enter_code(db: Database, point_id: str, code: str) -> str:
    """Enter a code at the locker before which you stand, and take out the parcel.

    Args:
        point_id: The number on the locker, e.g. Q07.
        code: The code that the parcel service told you.
    """
    if db.get("screens", point_id).get("error") is not None:
        raise DomainError("the locker takes no code: its screen shows an error")
    for entry in db.where("codes", code=code.strip()):
        if db.get("parcels", entry["parcel"]).get("point") == point_id:
            db.update(
                "parcels",
                entry["parcel"],
                status="delivered",
                delivered_on=office(db)["today"],
            )
            db.remove("codes", entry["parcel"])
            return "the door is open"
    raise DomainError("no door opens for this code")


def _box(db: Database, customer_id: str, looks: str) -> Record:
    wanted = looks.strip().casefold()
    for box in db.where("boxes", customer=customer_id, looks=wanted):
        return db.get("boxes", box["box_id"])
    raise DomainError(f"there is no {looks!r} at your home")


FUNCTIONS = (
    look_into_letterbox,
    read_phone,
    weigh_box,
    read_label,
    photograph_box,
    read_screen,
    press_restart,
    enter_code,
)
