import pytest
from tests.unit.report.ledgers import (
    BIG,
    JUDGE,
    POLICY,
    SMALL,
    group,
    pricing,
    rollout,
    trial,
    write_run,
)

from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.report.logged import read_run
from toolorchestra.report.tally import BILLED, Item, Tally


def tally(run_dir, **changes):
    options = pricing(**changes)
    found = Tally(build_price_book(options), options.draw)
    for logged in read_run(run_dir):
        found.take("run", logged)
    return found


def test_the_same_usage_is_summed_as_billed_and_as_each_schedule_lists_it(tmp_path):
    found = tally(write_run(tmp_path, [group(rollout(POLICY, BIG, BIG), rollout(POLICY, SMALL))]))
    ((place, bill),) = found.bills()
    assert (place.policy, place.world, place.steps, bill.num_tasks) == ("training", "seen", "0", 2)
    usd = {
        (item.name or item.kind, column): found.usd
        for item, sums in bill.items.items()
        for column, found in sums.items()
    }
    # $0.002 for each unit of the rate, whatever factor the episode drew
    assert usd == pytest.approx(
        {
            ("policy", BILLED): 0.004, ("policy", "low"): 0.002, ("policy", "high"): 0.002,
            ("sim/Big", BILLED): 0.016, ("sim/Big", "low"): 0.008, ("sim/Big", "high"): 0.08,
            ("sim/Small", BILLED): 0.003, ("sim/Small", "low"): 0.002, ("sim/Small", "high"): 0.0,
        }
    )  # fmt: skip
    small = bill.of(Item(kind="tool", name="sim/Small"), "high")
    assert (small.num_unknown, found.unpriced) == (1, {"low": {}, "high": {"Small": None}})
    assert list(bill.of(Item(kind="policy"), "low").lenders) == ["lender"]


def test_totals_are_of_kinds_and_leave_the_judge_out(tmp_path):
    found = tally(write_run(tmp_path, trials=[trial("p", 0.01, rollout(POLICY, BIG, JUDGE))]))
    ((_, bill),) = found.bills()
    assert bill.total(("policy", "tool"), "low").usd == pytest.approx(0.001 + 0.004)
    assert bill.total(("judge",), "low").usd == pytest.approx(0.006)
    assert bill.total(("judge",), BILLED).usd == 0.005
    assert bill.total(("user",), BILLED).usd == 0


def test_void_and_unscored_rollouts_are_counted_and_left_out(tmp_path):
    void = trial("p", None, rollout(BIG, status="void"))
    found = tally(write_run(tmp_path, trials=[trial("p", 0.002, rollout(POLICY)), void]))
    ((_, bill),) = found.bills()
    assert (bill.num_tasks, found.num_unscored) == (1, 1)
    assert bill.total(("tool",), BILLED).usd == 0


@pytest.mark.parametrize(
    ("num_steps", "labels"),
    [
        (1, ["0"]),
        (3, ["0", "1", "2"]),
        (4, ["0", "1", "2", "3"]),
        (10, ["0-1", "2-4", "5-6", "7-9"]),
    ],
)
def test_steps_are_gathered_into_four_ranges_at_most(tmp_path, num_steps, labels):
    run = write_run(tmp_path, [group(rollout(POLICY))] * num_steps, [trial("p", 0.0, rollout())])
    bills = tally(run).bills()
    assert [place.steps for place, _ in bills] == [*labels, None]
    assert sum(bill.num_tasks for _, bill in bills) == num_steps + 1


def test_a_schedule_that_is_drawn_twice_is_one_column(tmp_path):
    run = write_run(tmp_path, [group(rollout(POLICY))])
    assert tally(run, draw=["low", "low"]).columns == (BILLED, "low")
