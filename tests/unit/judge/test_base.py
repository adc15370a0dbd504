from tests.invariant.records import entry, rollout, turn
from tests.unit.judge.stand_in import RIGHT, PlannedModel, make_judge, task

from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.goal import Goal, as_task
from toolorchestra.domain.load import load_shipped
from toolorchestra.judge import base
from toolorchestra.judge.base import judge_rollout
from toolorchestra.judge.match import MATCHER
from toolorchestra.reward.measures import cost_usd

SPENT = (entry("policy", 0.5), entry("tool", 0.25))


async def test_the_bill_goes_into_the_ledger_and_never_counts_as_the_policys_cost():
    judge = make_judge(PlannedModel(RIGHT))
    before = rollout(turn(), turn(), answer="the French capital", ledger=SPENT)
    after, verdict = await judge_rollout(judge, task(), before)
    await judge.close()
    assert verdict.is_solved is True
    assert after.ledger[:2] == SPENT
    (bill,) = after.ledger[2:]
    assert (bill.kind, bill.cost_usd, bill.turn) == ("judge", 0.002, 1)
    assert cost_usd(after) == cost_usd(before) == 0.75
    assert cost_usd(after, ("judge",)) == 0.002


async def test_matchers_leave_a_rollout_as_it_is():
    before = rollout(turn(), answer="Paris", ledger=SPENT)
    after, verdict = await judge_rollout(MATCHER, task(), before)
    assert after is before
    assert verdict.decided_by == "match:text"


async def test_nobody_is_asked_about_a_void_rollout():
    model = PlannedModel(RIGHT)
    judge = make_judge(model)
    before = rollout(status="void", answer="Rome")
    assert await judge_rollout(judge, task(), before) == (before, None)
    assert model.asked == []
    await judge.close()


async def test_a_rollout_whose_calls_cannot_be_made_again_is_void(monkeypatch):
    def broken(goal, rollout):
        raise DomainBug("pay broke: it ran longer than 5 s")

    monkeypatch.setattr(base, "judge_domain", broken)
    library = load_shipped("library")
    goal = Goal(domain=library, task=library.tasks["library-001"])
    after, verdict = await judge_rollout(MATCHER, as_task(goal), rollout(turn(), answer="19.13"))
    assert (after.status, verdict) == ("void", None)
    assert after.fault == "domain: pay broke: it ran longer than 5 s"
