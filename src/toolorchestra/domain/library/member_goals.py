"""What members want besides loans: each function adds one goal to a task."""

from __future__ import annotations

from decimal import Decimal

from toolorchestra.domain.database import Record
from toolorchestra.domain.library.records import SUBJECTS
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money, money_text


def _member(script: Script, member: str) -> Record:
    return script.record("members", member)


def _any_book(script: Script) -> Record:
    return script.rng.choice(script.every("books"))


def _any_branch(script: Script) -> Record:
    return script.rng.choice(script.every("branches"))


def ask_debt(script: Script, member: str) -> bool:
    """How much the member owes."""
    if not money(_member(script, member)["owes"]):
        return False
    owes = script.do("get_member", member_id=member)["owes"]
    script.ask("Please tell me how much I owe the library.", owes)
    return True


def ask_expiry(script: Script, member: str) -> bool:
    """When the membership expires."""
    day = script.do("get_member", member_id=member)["expires_on"]
    script.ask("On which day does my membership expire?", day)
    return True


def ask_pages(script: Script, member: str) -> bool:
    """How long a book is."""
    book = script.do("get_book", book_id=_any_book(script)["book_id"])
    script.ask(f'How many pages does "{book["title"]}" have?', str(book["pages"]))
    return True


def ask_waiting(script: Script, member: str) -> bool:
    """How many members wait for a book."""
    waited_for = sorted({hold["book"] for hold in script.every("holds")})
    if not waited_for:
        return False
    book = script.do("get_book", book_id=script.rng.choice(waited_for))
    text = f'How many holds are there on "{book["title"]}"?'
    script.ask(text, str(book["num_holds"]))
    return True


def hold(script: Script, member: str) -> bool:
    """Wait for a book."""
    book, branch = _any_book(script), _any_branch(script)
    arguments = {"book_id": book["book_id"], "branch_id": branch["branch_id"]}
    if not script.works("place_hold", member_id=member, **arguments):
        return False
    script.do("place_hold", member_id=member, **arguments)
    script.ask(f'Put me on the waiting list for "{book["title"]}" at {branch["name"]}.')
    return True


def unhold(script: Script, member: str) -> bool:
    """Wait for a book no longer."""
    holds = [h for h in script.every("holds") if h["member"] == member]
    if not holds:
        return False
    book = script.record("books", script.rng.choice(holds)["book"])
    script.do("cancel_hold", member_id=member, book_id=book["book_id"])
    script.ask(f'I no longer want to wait for "{book["title"]}": cancel that hold.')
    return True


def pay_part(script: Script, member: str) -> bool:
    """Pay some of what is owed."""
    owes = money(_member(script, member)["owes"])
    if owes < 2:
        return False
    amount = Decimal(script.rng.randint(100, int(owes * 100) - 1)) / 100
    rest = script.do("pay", member_id=member, amount=money_text(amount))["owes"]
    script.ask(f"I pay {money_text(amount)} of what I owe. How much is left?", rest)
    return True


def pay_all(script: Script, member: str) -> bool:
    """Pay all that is owed."""
    owes = _member(script, member)["owes"]
    if not money(owes):
        return False
    script.do("pay", member_id=member, amount=owes)
    script.ask("I pay everything that I owe by now; tell me how much that is.", owes)
    return True


def move(script: Script, member: str) -> bool:
    """Live elsewhere."""
    others = [m for key, m in script.database.records["members"].items() if key != member]
    street, town = (script.rng.choice(others)["address"][name] for name in ("street", "town"))
    script.do("change_address", member_id=member, street=street, town=town)
    script.ask(f"I have moved: my street is {street} and my town is {town} now.")
    return True


def choose_interests(script: Script, member: str) -> bool:
    """Get news about other subjects."""
    chosen = script.rng.sample(SUBJECTS, 3)
    if set(chosen) == set(_member(script, member)["interests"]):
        return False
    script.do("set_interests", member_id=member, interests=chosen)
    script.ask("My interests are now " + ", ".join(chosen[:-1]) + f" and {chosen[-1]} only.")
    return True


def choose_reading(script: Script, member: str) -> bool:
    """Put other books on the reading list."""
    books = script.rng.sample(sorted(script.database.records["books"]), 3)
    if books == _member(script, member)["reading_list"]:
        return False
    script.do("set_reading_list", member_id=member, book_ids=books)
    titles = [f'"{script.record("books", book)["title"]}"' for book in books]
    script.ask(f"Replace my reading list by {titles[0]}, then {titles[1]}, then {titles[2]}.")
    return True


def change_plan(script: Script, member: str) -> bool:
    """Have another plan."""
    plans = [p for p in script.database.records["plans"] if p != _member(script, member)["plan"]]
    plan = script.rng.choice(plans)
    if not script.works("change_plan", member_id=member, plan_id=plan):
        return False
    script.do("change_plan", member_id=member, plan_id=plan)
    script.ask(f"Change my plan to {plan}.")
    return True


def change_branch(script: Script, member: str) -> bool:
    """Have another branch of one's own."""
    branch = _any_branch(script)
    if branch["branch_id"] == _member(script, member)["branch"]:
        return False
    script.do("change_branch", member_id=member, branch_id=branch["branch_id"])
    script.ask(f"Make {branch['name']} my own branch.")
    return True


def extend(script: Script, member: str) -> bool:
    """Stay a member for another year."""
    day = script.do("extend_membership", member_id=member)["expires_on"]
    script.ask("Extend my membership by a year and tell me on which day it expires then.", day)
    return True
