"""Lockers for parcels, as their desk works with them."""

from typing import Any

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError


def get_locker(db: Database, locker_id: str) -> dict[str, Any]:
    """Look up whether a locker is released and open.

    Args:
        locker_id: Number of the locker.
    """
    locker = db.get("lockers", locker_id)
    return {key: locker[key] for key in ("is_released", "is_open")}


def release(db: Database, locker_id: str, slip: str) -> str:
    """Release a locker, so that it can be opened with the code that this gives.

    Args:
        locker_id: Number of the locker.
        slip: Number on its slip.
    """
    if db.get("lockers", locker_id)["slip"] != slip:
        raise DomainError("that is not the number on the slip")
    db.update("lockers", locker_id, is_released=True)
    return "the code is 52"


FUNCTIONS = (get_locker, release)
