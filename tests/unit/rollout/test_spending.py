"""What a run has really paid, over all its attempts, and where it stops."""

from __future__ import annotations

import pytest

from toolorchestra.rollout.spending import SPENT_FILE, BudgetSpent, Spending
from toolorchestra.types import LedgerEntry, Usage


def entry(cost_usd, *, requests=1, kind="tool"):
    return LedgerEntry(
        kind=kind, name="x", priced_as=("x",), usage=Usage(num_requests=requests),
        cost_usd=cost_usd, latency_s=0.0, turn=0,
    )  # fmt: skip


def test_only_what_was_asked_of_providers_is_money():
    spending = Spending(1.0)
    spending.add([entry(0.5), entry(7.0, requests=0), entry(0.25, kind="judge")])
    assert spending.spent_usd == 0.75 and not spending.is_over
    spending.check()


def test_a_run_that_has_paid_its_limit_is_told_so_in_one_sentence():
    spending = Spending(1.0)
    spending.add([entry(0.5), entry(0.5)])
    with pytest.raises(BudgetSpent, match=r"max_cost_usd: \$1\.00 are spent of \$1\.00; .*resume"):
        spending.check()


def test_without_a_limit_nothing_is_too_much():
    spending = Spending()
    spending.add([entry(1e6)])
    spending.check()


def test_a_resumed_run_goes_on_from_what_it_had_paid(tmp_path):
    Spending(9.0, run_dir=tmp_path).add([entry(2.0)])
    again = Spending(3.0, run_dir=tmp_path)
    again.add([entry(1.5)])
    assert again.spent_usd == 3.5 and again.is_over
    assert Spending(run_dir=tmp_path).spent_usd == 3.5


def test_a_run_that_pays_nothing_leaves_no_file(tmp_path):
    Spending(run_dir=tmp_path).add([entry(2.0, requests=0)])
    assert not (tmp_path / SPENT_FILE).exists()
