from dataclasses import replace

import pytest
from tests.unit.page.made_up import evaluated, played, trained, turn

from toolorchestra.page.sums import Sums
from toolorchestra.types import CallError, ToolResult, Verdict


def sums_of(*attempts):
    sums = Sums(policy=attempts[0].policy, world=attempts[0].world)
    for attempt in attempts:
        sums.add(attempt)
    return sums.to_json()


def test_accuracy_leaves_out_what_was_not_scored():
    wrong = Verdict(is_solved=False, decided_by="test")
    unscored = Verdict(is_solved=None, decided_by="judge", reason="the judge failed")
    found = sums_of(
        evaluated(),
        evaluated(verdict=wrong),
        evaluated(verdict=unscored),
        evaluated(rollout=played(status="void", fault="no server"), verdict=None),
    )
    whole = found["whole"]
    assert (whole["num"], whole["scored"], whole["accuracy"]["value"]) == (4, 2, 0.5)
    assert found["faults"]["void"] == [["no server", 1]]
    assert found["faults"]["unscored"] == [["the judge failed", 1]]
    assert found["statuses"] == {"answered": 3, "void": 1}


def test_training_gets_no_interval_as_rollouts_of_a_group_are_alike():
    assert sums_of(trained(0), trained(1))["whole"]["accuracy"] == 1.0
    assert sums_of(evaluated())["whole"]["accuracy"]["low"] < 1.0


def test_calls_are_counted_by_tool_and_by_how_they_ended():
    refused = ToolResult(
        call_id="c", name="big", content="no", status="policy_error", metadata={"malformed": True}
    )
    bad = turn(results=(refused,), errors=(CallError(message="no JSON", text="{"),))
    unknown = turn(results=(replace(refused, name="made up"),))
    found = sums_of(evaluated(rollout=played(turn(), bad, unknown)))
    assert found["calls"] == {"sim/Big": {"ok": 1, "refused": 1}, "(not offered)": {"refused": 1}}
    assert found["faults"]["malformed"] == [["no", 2], ["no JSON", 1]]


def test_costs_are_those_of_the_ledger_by_what_was_paid_for():
    # each rollout: $0.002 for the policy's tokens, $0.008 for Big
    found = sums_of(evaluated(), evaluated())
    assert found["cost_usd"] == {"policy": pytest.approx(0.004), "sim/Big": pytest.approx(0.016)}
