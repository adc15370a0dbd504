"""What a user costs, and what becomes of a rollout whose user fails."""

from dataclasses import replace

import pytest
from tests.unit.judge.stand_in import PlannedModel
from tests.unit.rollout.conversations import GOLDEN, play, staged
from tests.unit.rollout.stage import engine_of
from tests.unit.user.scene import (
    LATENCY_S,
    OPEN,
    READ,
    install,
    locker_episode,
)
from tests.unit.user.test_llm import make_user, says

from toolorchestra.provider.fault import ProviderFault
from toolorchestra.reward.measures import RUN_KINDS, measure


@pytest.fixture(autouse=True)
def locker(monkeypatch):
    return install(monkeypatch)


def test_a_users_fault_voids_the_rollout_and_never_scores():
    fault = ProviderFault("overloaded", kind="server")
    played, spent_usd = staged(
        engine_of("Hello."),
        locker_episode(),
        user=lambda environments: make_user(PlannedModel(says("", READ), fault), environments),
    )
    (rollout,) = played.rollouts
    assert (rollout.status, rollout.fault, played.verdicts) == (
        "void",
        "user: server: overloaded",
        (None,),
    )
    assert played.num_void == 1
    assert [entry.kind for entry in rollout.ledger] == ["policy", "user"]


class PaidModel(PlannedModel):
    """One that says that it was sent a request."""

    async def complete(self, messages, *, sampling, deadline_s):
        found = await super().complete(messages, sampling=sampling, deadline_s=deadline_s)
        return replace(found, usage=replace(found.usage, num_requests=1))


def test_what_the_user_costs_is_paid_by_the_run_and_not_by_the_policy():
    model = PaidModel(
        says("", READ), says("4711."), says("", OPEN), says("It is open."), says(is_done=True)
    )
    played, spent_usd = staged(
        engine_of(*GOLDEN),
        locker_episode(),
        user=lambda environments: make_user(model, environments),
    )
    (rollout,), (verdict,) = played.rollouts, played.verdicts
    assert verdict.is_solved is True
    bills = [entry for entry in rollout.ledger if entry.kind == "user"]
    # each 1,000 input tokens at $1 and 100 output tokens at $10 a million
    assert [entry.cost_usd for entry in bills] == [0.002] * 5
    assert [entry.turn for entry in bills] == [0, 0, 2, 2, 3]
    assert spent_usd == pytest.approx(0.01)
    own = sum(entry.cost_usd for entry in rollout.ledger if entry.kind in RUN_KINDS)
    measures = measure(rollout, played.episode, verdict)
    assert measures.cost_usd == pytest.approx(own)
    assert measures.latency_s == LATENCY_S


async def test_a_users_bill_does_not_count_against_the_policys_budget():
    def user(environments):
        return make_user(PlannedModel(says("Hm.")))

    rollout = await play("Hello.", user=user, max_turns=3, max_cost_usd=0.004)
    assert sum(entry.cost_usd for entry in rollout.ledger if entry.kind == "user") == 0.006
    own = sum(entry.cost_usd for entry in rollout.ledger if entry.kind == "policy")
    assert own < 0.004
    assert rollout.status == "max_turns"
