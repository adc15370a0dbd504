from dataclasses import replace

import pytest
from tests.unit.report.ledgers import (
    BIG,
    JUDGE,
    POLICY,
    SMALL,
    billed_as,
    rollout,
    trial,
    write_run,
)

from toolorchestra.report.audit import Audit
from toolorchestra.report.logged import read_run


def audit(tmp_path, *trials):
    found = Audit()
    for logged in read_run(write_run(tmp_path, trials=trials)):
        found.check(logged)
    return found


def test_a_ledger_that_adds_up_differs_by_nothing(tmp_path):
    found = audit(tmp_path, trial("p", 0.013, rollout(POLICY, BIG, SMALL)))
    assert found.is_right and found.largest_usd < 1e-15
    assert (found.num_entries, found.num_rollouts) == (3, 1)


def test_an_entry_that_was_billed_wrongly_is_found(tmp_path):
    wrong = rollout(POLICY, billed_as(BIG, 0.0081))
    found = audit(tmp_path, trial("p", 0.002, rollout(POLICY)), trial("q", 0.0101, wrong))
    assert not found.is_right
    assert found.largest_usd == pytest.approx(0.0001)
    assert "q in the local world, e" in found.where and "ledger entry 1 (big)" in found.where
    assert "largest difference 0.0001 USD, at " in found.told()


def test_a_rewarded_cost_that_is_not_the_ledgers_sum_is_found(tmp_path):
    # each entry is right, but the last call went free
    found = audit(tmp_path, trial("p", 0.002, rollout(POLICY, BIG)))
    assert not found.is_right
    assert found.largest_usd == pytest.approx(0.008)


def test_a_difference_of_rounding_alone_is_none(tmp_path):
    found = audit(tmp_path, trial("p", 0.002 + 1e-10, rollout(POLICY)))
    assert found.is_right and found.largest_usd > 0


def test_judges_are_counted_but_not_checked_and_no_part_of_the_policys_cost(tmp_path):
    found = audit(tmp_path, trial("p", 0.002, rollout(POLICY, JUDGE)))
    assert found.is_right
    assert (found.num_entries, found.num_unchecked) == (1, 1)
    assert "1 entries of judges and users are not checked" in found.told()


def test_the_entries_of_a_void_rollout_are_checked_too(tmp_path):
    void = rollout(billed_as(POLICY, 0.5), status="void")
    found = audit(tmp_path, trial("p", None, void))
    assert (found.num_rollouts, found.is_right) == (0, False)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (replace(BIG, name="gone"), "the episode offers no tool 'gone', only big, small"),
        (replace(BIG, usage=replace(BIG.usage, output_tokens=-1)), r"usage\.output_tokens: -1"),
    ],
)
def test_a_ledger_that_cannot_be_is_named_with_its_place(tmp_path, entry, message):
    with pytest.raises(ValueError, match=f"p in the local world.*ledger entry 1 .*{message}"):
        audit(tmp_path, trial("p", 0.01, rollout(POLICY, entry)))
