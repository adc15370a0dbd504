"""What somebody can do who stands before the lockers."""

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError


def read_slip(db: Database, locker_id: str) -> str:
    """Read the number on the slip of a locker.

    Args:
        locker_id: Number of the locker.
    """
    return str(db.get("lockers", locker_id)["slip"])


def open_locker(db: Database, locker_id: str) -> str:
    """Pull the door of a locker.

    Args:
        locker_id: Number of the locker.
    """
    if not db.get("lockers", locker_id)["is_released"]:
        raise DomainError("the door does not move")
    db.update("lockers", locker_id, is_open=True)
    return "the door is open"


FUNCTIONS = (read_slip, open_locker)
