import pytest

from toolorchestra.domain.environment import Environment
from toolorchestra.domain.load import load_shipped


@pytest.fixture(scope="module")
def library():
    return load_shipped("library")


@pytest.fixture
def desk(library):
    """A small stage: M001 may borrow, K001 is hers and late, K002 and K003 stand available."""
    database = library.database.fresh()
    for hold in database.where("holds"):
        database.remove("holds", hold["hold_id"])
    for loan in database.where("loans"):
        database.remove("loans", loan["loan_id"])
    for copy in database.where("copies"):
        database.update("copies", copy["copy_id"], status="available")
    database.update(
        "members", "M001", plan="adult", owes="1.00", expires_on="2031-12-31", reading_list=[]
    )
    database.update("copies", "K001", status="lent")
    loan = {"loan_id": "L1", "copy": "K001", "member": "M001", "lent_on": "2031-04-01"}
    database.add("loans", {**loan, "due_on": "2031-05-04", "renewals": 0})
    return Environment(database, library.functions)


def _fails(desk, reason, name, /, **arguments):
    outcome = desk.call(name, arguments)
    assert not outcome.is_ok and reason in outcome.content


def _works(desk, name, /, **arguments):
    outcome = desk.call(name, arguments)
    assert outcome.is_ok, outcome.content
    return outcome.content


def test_a_late_return_costs_a_fine_for_each_day(desk):
    assert _works(desk, "return_copy", copy_id="K001") == '{"fine": "3.50", "owes": "4.50"}'
    assert desk.database.get("copies", "K001")["status"] == "available"
    _fails(desk, "K001 is not lent", "return_copy", copy_id="K001")


def test_a_lost_copy_costs_what_its_book_costs(desk):
    cost = desk.database.get("books", "B001")["replacement_cost"]
    assert f'"cost": "{cost}"' in _works(desk, "report_lost", copy_id="K001")
    desk.database.update("members", "M001", owes="0.00")
    _fails(desk, "K001 is lost", "lend_copy", member_id="M001", copy_id="K001")


def test_a_late_loan_is_not_renewed_and_others_at_most_twice(desk):
    _fails(desk, "a late loan is not renewed", "renew_loan", copy_id="K001")
    assert '"due_on": "2031-06-04"' in _works(desk, "lend_copy", member_id="M001", copy_id="K002")
    for _ in range(2):
        _works(desk, "renew_loan", copy_id="K002")
    _fails(desk, "renewed 2 times already", "renew_loan", copy_id="K002")


def test_a_hold_of_another_member_forbids_renewing_and_borrowing_ends_ones_own(desk):
    _works(desk, "lend_copy", member_id="M001", copy_id="K002")
    desk.database.update("members", "M002", plan="adult", expires_on="2031-12-31", owes="0")
    for copy in desk.database.where("copies", book="B002"):
        desk.database.update("copies", copy["copy_id"], status="lost")
    _works(desk, "place_hold", member_id="M002", book_id="B002", branch_id="R1")
    _fails(desk, "another member has a hold", "renew_loan", copy_id="K002")
    desk.database.update("copies", "K002", status="available")
    _works(desk, "lend_copy", member_id="M002", copy_id="K002")
    assert desk.database.count("holds") == 0


def test_a_hold_needs_a_book_that_is_neither_available_nor_borrowed(desk):
    copy = desk.database.get("copies", "K002")
    hold = {"member_id": "M001", "book_id": "B002"}
    _fails(desk, "a copy is available at", "place_hold", **hold, branch_id=copy["branch"])
    for one in desk.database.where("copies", book="B001"):
        desk.database.update("copies", one["copy_id"], status="lent")
    borrowed = {"member_id": "M001", "book_id": "B001", "branch_id": "R1"}
    _fails(desk, "has borrowed the book", "place_hold", **borrowed)
    _fails(desk, "no hold on the book", "cancel_hold", member_id="M001", book_id="B001")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"expires_on": "2031-05-13"}, "the membership expired on 2031-05-13"),
        ({"owes": "15.01"}, "owes 15.01, which is more than 15.00"),
    ],
)
def test_who_may_not_borrow_is_told_why(desk, changes, reason):
    desk.database.update("members", "M001", **changes)
    _fails(desk, reason, "lend_copy", member_id="M001", copy_id="K002")


def test_the_limits_themselves_are_allowed(desk):
    desk.database.update("members", "M001", expires_on="2031-05-14", owes="15.00")
    _works(desk, "lend_copy", member_id="M001", copy_id="K002")


def test_a_plan_limits_loans(desk):
    for copy in ("K002", "K003", "K004", "K005"):
        _works(desk, "lend_copy", member_id="M001", copy_id=copy)
    _fails(desk, "adult allows 5 loans", "lend_copy", member_id="M001", copy_id="K006")
    _fails(desk, "more than the 3 loans of child", "change_plan", member_id="M001", plan_id="child")
    _works(desk, "change_plan", member_id="M001", plan_id="patron")
    _works(desk, "lend_copy", member_id="M001", copy_id="K006")


@pytest.mark.parametrize("amount", ["0", "-1", "1.01"])
def test_nobody_pays_nothing_or_more_than_is_owed(desk, amount):
    _fails(desk, "the member owes 1.00", "pay", member_id="M001", amount=amount)


def test_a_payment_is_exact_and_noted(desk):
    assert _works(desk, "pay", member_id="M001", amount="0.90") == '{"owes": "0.10"}'
    assert desk.database.where("payments", member="M001")[0]["amount"] == "0.90"


def test_extending_adds_a_year_and_the_fee(desk):
    assert (
        _works(desk, "extend_membership", member_id="M001")
        == '{"expires_on": "2032-12-31", "owes": "25.00"}'
    )
    desk.database.update("members", "M001", expires_on="2032-02-29")
    assert "2033-02-28" in _works(desk, "extend_membership", member_id="M001")


def test_a_member_is_found_by_name_and_a_book_by_what_is_known_of_it(desk, library):
    member = library.database.records["members"]["M001"]
    assert '"member_id": "M001"' in _works(desk, "find_member", name=member["name"].upper())
    _fails(desk, "nobody in members is called 'Nobody'", "find_member", name="Nobody")
    book = library.database.records["books"]["B001"]
    author = library.database.records["authors"][book["authors"][0]]["name"]
    found = {"title": book["title"][4:], "author": author, "subject": book["subjects"][0]}
    assert '"book_id": "B001"' in _works(desk, "search_books", **found)
    assert _works(desk, "search_books", title=book["title"], subject="cars") == "[]"


def test_lists_name_what_is_in_them(desk, library):
    title = library.database.records["books"]["B001"]["title"]
    assert title in _works(desk, "list_loans", member_id="M001")
    _fails(desk, "there is no 'M999' in members", "list_loans", member_id="M999")
    assert _works(desk, "list_holds", member_id="M001") == "[]"
    _fails(desk, "there is no 'R9'", "change_branch", member_id="M001", branch_id="R9")
    _fails(desk, "'B999'", "set_reading_list", member_id="M001", book_ids=["B001", "B999"])
    assert desk.database.get("members", "M001")["reading_list"] == []
