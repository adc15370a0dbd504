"""What can be looked up at the desk; nothing here changes a record."""

from __future__ import annotations

from typing import Any

from toolorchestra.domain.database import Database, Record
from toolorchestra.domain.library.steps import book_of, open_loans
from toolorchestra.domain.lookup import by_name, one

_MAX_BOOKS = 20


def get_rules(db: Database) -> dict[str, Any]:
    """Get today's date, the fine for a late day, the limits, and what each plan offers."""
    return {"desk": db.get("desk", "main"), "plans": db.where("plans")}


def list_branches(db: Database) -> list[Record]:
    """List the branches with their ids and names."""
    return db.where("branches")


def find_member(db: Database, name: str) -> Record:
    """Find a member by name.

    Args:
        name: The full name, in any case.
    """
    return by_name(db, "members", name)


def get_member(db: Database, member_id: str) -> Record:
    """Get all that is known of a member: plan, expiry, what is owed, lists.

    Args:
        member_id: e.g. M012.
    """
    return db.get("members", member_id)


def search_books(
    db: Database, title: str | None = None, author: str | None = None, subject: str | None = None
) -> list[dict[str, Any]]:
    """Search the catalogue; a book has to fit all that is given. Gives at most 20 books.

    Args:
        title: Part of the title, in any case.
        author: Part of an author's name, in any case.
        subject: One of the book's subjects.
    """
    names = {one["author_id"]: one["name"] for one in db.where("authors")}

    def fits(book: Record) -> bool:
        return (
            (title or "").casefold() in book["title"].casefold()
            and any((author or "").casefold() in names[one].casefold() for one in book["authors"])
            and (subject is None or subject in book["subjects"])
        )

    found = db.where("books", fits)[:_MAX_BOOKS]
    return [{**book, "authors": [names[one] for one in book["authors"]]} for book in found]


def get_book(db: Database, book_id: str) -> dict[str, Any]:
    """Get a book with all its copies: where they stand and whether they are available.

    Args:
        book_id: e.g. B034.
    """
    return {
        **db.get("books", book_id),
        "copies": db.where("copies", book=book_id),
        "num_holds": len(db.where("holds", book=book_id)),
    }


def list_loans(db: Database, member_id: str) -> list[dict[str, Any]]:
    """List what a member has borrowed and not returned.

    Args:
        member_id: e.g. M012.
    """
    db.get("members", member_id)
    loans = []
    for loan in open_loans(db, member_id):
        copy = one(db, "copies", loan["copy"])
        loans.append({**loan, "title": book_of(db, copy)["title"], "book": copy["book"]})
    return loans


def list_holds(db: Database, member_id: str) -> list[dict[str, Any]]:
    """List the books that a member waits for.

    Args:
        member_id: e.g. M012.
    """
    db.get("members", member_id)
    return [
        {**hold, "title": book_of(db, hold)["title"]}
        for hold in db.where("holds", member=member_id)
    ]
