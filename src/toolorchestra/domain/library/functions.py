"""All functions of the library: a new one is one line here."""

from __future__ import annotations

from toolorchestra.domain.library.lending import (
    cancel_hold,
    lend_copy,
    place_hold,
    renew_loan,
    report_lost,
    return_copy,
)
from toolorchestra.domain.library.lookups import (
    find_member,
    get_book,
    get_member,
    get_rules,
    list_branches,
    list_holds,
    list_loans,
    search_books,
)
from toolorchestra.domain.library.membership import (
    change_address,
    change_branch,
    change_plan,
    extend_membership,
    pay,
    set_interests,
    set_reading_list,
)

FUNCTIONS = (
    get_rules,
    list_branches,
    find_member,
    get_member,
    search_books,
    get_book,
    list_loans,
    list_holds,
    lend_copy,
    return_copy,
    renew_loan,
    report_lost,
    place_hold,
    cancel_hold,
    pay,
    change_address,
    change_branch,
    change_plan,
    extend_membership,
    set_interests,
    set_reading_list,
)
