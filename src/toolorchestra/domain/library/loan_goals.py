"""What members want with their loans: each function adds one goal to a task.

A goal names books by title and branches by name, as people do, and only where that names one thing.
"""

from __future__ import annotations

from toolorchestra.domain.database import Record
from toolorchestra.domain.library.steps import open_loans
from toolorchestra.domain.lookup import by_words
from toolorchestra.domain.script import Script
from toolorchestra.domain.value import money


def _loans_by_title(script: Script, member: str) -> dict[str, Record]:
    """The member's open loans whose title names one of them."""
    loans = open_loans(script.database.fresh(), member)
    copies = [script.record("copies", loan["copy"]) for loan in loans]
    return by_words([script.record("books", copy["book"])["title"] for copy in copies], loans)


def ask_due(script: Script, member: str) -> bool:
    """When a loan is due."""
    loans = _loans_by_title(script, member)
    if not loans:
        return False
    title = script.rng.choice(list(loans))
    script.do("list_loans", member_id=member)
    script.ask(f'When is "{title}", which I have at home, due?', loans[title]["due_on"])
    return True


def renew(script: Script, member: str) -> bool:
    """Renew one loan."""
    loans = _loans_by_title(script, member)
    able = [t for t in loans if script.works("renew_loan", copy_id=loans[t]["copy"])]
    if not able:
        return False
    title = script.rng.choice(able)
    due = script.do("renew_loan", copy_id=loans[title]["copy"])["due_on"]
    script.ask(f'Please renew "{title}" and tell me when it is due then.', due)
    return True


def renew_what_can_be(script: Script, member: str) -> bool:
    """Renew all loans that the rules allow, and hear when the others are due."""
    loans = _loans_by_title(script, member)
    if len(loans) < 2 or len(loans) < len(open_loans(script.database.fresh(), member)):
        return False
    works = {t: script.works("renew_loan", copy_id=loans[t]["copy"]) for t in loans}
    if len(set(works.values())) < 2:
        return False
    script.do("list_loans", member_id=member)
    days = []
    for title, is_able in works.items():
        if is_able:
            script.do("renew_loan", copy_id=loans[title]["copy"])
        else:
            days.append(loans[title]["due_on"])
    script.ask(
        "Renew each of my loans that your rules let you renew, and tell me the due date of each "
        "of those that you cannot renew.",
        *days,
    )
    return True


def renew_against_the_rules(script: Script, member: str) -> bool:
    """Ask for a renewal that the rules forbid."""
    loans = _loans_by_title(script, member)
    unable = [t for t in loans if not script.works("renew_loan", copy_id=loans[t]["copy"])]
    if not unable:
        return False
    title = script.rng.choice(unable)
    script.do("list_loans", member_id=member)
    script.ask(
        f'Renew "{title}" for me; if your rules forbid it, tell me for which day it stays due.',
        loans[title]["due_on"],
    )
    return True


def give_back(script: Script, member: str) -> bool:
    """Return one loan."""
    loans = _loans_by_title(script, member)
    if not loans:
        return False
    title = script.rng.choice(list(loans))
    fine = script.do("return_copy", copy_id=loans[title]["copy"])["fine"]
    if money(fine):
        script.ask(f'I am returning "{title}". How high is the fine for it?', fine)
    else:
        script.ask(f'I am returning "{title}".')
    return True


def lose(script: Script, member: str) -> bool:
    """Report one loan as lost."""
    loans = _loans_by_title(script, member)
    if not loans:
        return False
    title = script.rng.choice(list(loans))
    cost = script.do("report_lost", copy_id=loans[title]["copy"])["cost"]
    script.ask(f'I have lost "{title}". What does it cost me?', cost)
    return True


def borrow(script: Script, member: str) -> bool:
    """Borrow the one copy of a book that is available at a branch."""
    copies = script.database.fresh().where("copies", status="available")
    places = [(copy["book"], copy["branch"]) for copy in copies]
    single = [c for c, place in zip(copies, places, strict=True) if places.count(place) == 1]
    copy = script.rng.choice(single)
    if not script.works("lend_copy", member_id=member, copy_id=copy["copy_id"]):
        return False
    title = script.record("books", copy["book"])["title"]
    branch = script.record("branches", copy["branch"])["name"]
    due = script.do("lend_copy", member_id=member, copy_id=copy["copy_id"])["due_on"]
    script.ask(f'Lend me the copy of "{title}" at {branch}; when is it due?', due)
    return True
