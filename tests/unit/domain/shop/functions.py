"""A small shop, to test the core of domains with."""

from decimal import Decimal
from typing import Any, Literal

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.value import money, money_text


def get_customer(db: Database, customer_id: str) -> dict[str, Any]:
    """Look up a customer.

    Args:
        customer_id: Number of the customer,
            such as C1.
    """
    return db.get("customers", customer_id)


def find_customers(db: Database, is_active: bool | None = None) -> list[str]:
    """List customers.

    Args:
        is_active: Only those that are active, or only those that are not.
    """
    conditions = {} if is_active is None else {"is_active": is_active}
    return [one["customer_id"] for one in db.where("customers", **conditions)]


def count_stock(db: Database, size: Literal["small", "large"]) -> int:
    """Count what is in stock.

    Args:
        size: Size of the products.
    """
    return sum(one["stock"] for one in db.where("products", size=size))


def place_order(db: Database, customer_id: str, items: list[str], stops: list[str]) -> str:
    """Order products.

    Args:
        customer_id: Who orders.
        items: The products, in any order.
        stops: Where the van stops, in this order.
    """
    for item in items:
        stock = db.get("products", item)["stock"]
        db.update("products", item, stock=stock - 1)  # before the check: a failure must undo it
        if stock < 1:
            raise DomainError(f"{item} is out of stock")
    number = f"O{len(db.where('orders')) + 1}"
    order = {"order_id": number, "customer": customer_id, "items": items, "stops": stops}
    db.add("orders", order)
    return number


def credit(db: Database, customer_id: str, amount: Decimal) -> dict[str, str]:
    """Add to a customer's balance.

    Args:
        customer_id: Who gets it.
        amount: How much; negative to take it back.
    """
    balance = money(db.get("customers", customer_id)["balance"]) + amount
    db.update("customers", customer_id, balance=money_text(balance))
    return {"balance": money_text(balance)}


def set_tags(db: Database, customer_id: str, tags: list[str]) -> str:
    """Replace a customer's tags.

    Args:
        customer_id: Whose.
        tags: In any order.
    """
    db.update("customers", customer_id, tags=tags, checked_at=str(id(tags)))
    return "done"


FUNCTIONS = (get_customer, find_customers, count_stock, place_order, credit, set_tags)
