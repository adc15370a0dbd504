"""All goals that a task may have: a new one is one line here."""

from __future__ import annotations

from toolorchestra.domain.library.loan_goals import (
    ask_due,
    borrow,
    give_back,
    lose,
    renew,
    renew_against_the_rules,
    renew_what_can_be,
)
from toolorchestra.domain.library.member_goals import (
    ask_debt,
    ask_expiry,
    ask_pages,
    ask_waiting,
    change_branch,
    change_plan,
    choose_interests,
    choose_reading,
    extend,
    hold,
    move,
    pay_all,
    pay_part,
    unhold,
)
from toolorchestra.domain.script import Template

GOALS: tuple[Template, ...] = (
    ask_debt,
    ask_expiry,
    ask_due,
    ask_pages,
    ask_waiting,
    renew,
    renew_what_can_be,
    renew_against_the_rules,
    give_back,
    lose,
    borrow,
    hold,
    unhold,
    pay_part,
    pay_all,
    move,
    choose_interests,
    choose_reading,
    change_plan,
    change_branch,
    extend,
)
