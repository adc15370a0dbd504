"""A domain that does whatever it is told to."""

from typing import Any

from toolorchestra.domain.database import Database

NUM_CALLS = 0


def pay(db: Database, account_id: str, amount: int) -> int:
    """Pay into an account.

    Args:
        account_id: The account.
        amount: How much.
    """
    balance = db.get("accounts", account_id)["balance"] + amount
    db.update("accounts", account_id, balance=balance)
    return balance


def attempt(db: Database, code: str) -> Any:
    """Run Python; gives what it leaves in `result`.

    Args:
        code: It finds the database as `db`, and this file's names in `own`.
    """
    names = {"db": db, "own": globals(), "result": None}
    exec(code, names)
    return names["result"]


FUNCTIONS = (pay, attempt)
