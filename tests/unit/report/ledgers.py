"""A run's log by hand: one training step, one evaluation, prices that can be worked out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolorchestra.benchmark.evaluate import Result, Trial
from toolorchestra.pricing.config import PriceConfig, PricingConfig, ScheduleConfig
from toolorchestra.report.records import TrialRecords
from toolorchestra.report.trajectories import (
    EVALUATION_FILE,
    TRAJECTORIES_FILE,
    TrajectoryLog,
)
from toolorchestra.types import (
    Episode,
    Group,
    LedgerEntry,
    Measures,
    OfferedTool,
    Preference,
    Price,
    Rollout,
    Score,
    Task,
    Usage,
    Verdict,
)

SOURCE = {"source": "made up", "date": "2026-01-01"}
USAGE = Usage(input_tokens=1_000, output_tokens=100)


def price(rate: float) -> Price:
    return Price(usd_per_input_mtok=rate, usd_per_output_mtok=10 * rate, **SOURCE)


def listed(rate: float) -> PriceConfig:
    return PriceConfig(unit="mtok", input=rate, output=10 * rate, **SOURCE)


def pricing(**changes: Any) -> PricingConfig:
    """Under "low" all is known, the policy's price borrowed; "high" knows no Small."""
    fields: dict[str, Any] = {
        "name": "test",
        "schedules": {
            "low": ScheduleConfig(
                prices={"Big": listed(2), "Small": listed(1)}, version="2026-01-01"
            ),
            "high": ScheduleConfig(prices={"Big": listed(20)}),
            "lender": ScheduleConfig(prices={"Policy": listed(0.5), "Judge": listed(3)}),
        },
        "draw": ["low", "high"],
        "borrow": ["lender"],
        "jitter": 2.0,
    }
    return PricingConfig(**(fields | changes))


def tool(name: str, row: str, rate: float) -> OfferedTool:
    return OfferedTool(
        name=name,
        shown_as=f"sim/{row}",
        description="",
        parameters={},
        priced_as=(row,),
        price=price(rate),
        call_cost_usd=0.0,
        latency_s=1.0,
    )


EPISODE = Episode(
    id="e",
    seed=0,
    task=Task(id="t", skill="math", question="What is 2 + 2?", answer="4"),
    # drawn with a factor: 4 and 1.5 where "low" lists 2 and 1
    tools=(tool("big", "Big", 4), tool("small", "Small", 1.5)),
    pricing="low",
    policy_priced_as=("Policy",),
    policy_price=price(1),
    preference=Preference(kind="frugal", instruction="", outcome=1.0, cost=1.0, latency=0.0),
    is_solvable=True,
)


def entry(kind: Any, name: str, row: str, cost_usd: float) -> LedgerEntry:
    """1,000 tokens in and 100 out at ten times the rate: $0.002 at a rate of 1."""
    return LedgerEntry(
        kind=kind,
        name=name,
        priced_as=(row,),
        usage=USAGE,
        cost_usd=cost_usd,
        latency_s=0.0,
        turn=0,
    )


POLICY = entry("policy", "policy", "Policy", 0.002)
BIG = entry("tool", "big", "Big", 0.008)
SMALL = entry("tool", "small", "Small", 0.003)
JUDGE = entry("judge", "judge", "Judge", 0.005)


def rollout(*ledger: LedgerEntry, **changes: Any) -> Rollout:
    fields: dict[str, Any] = {
        "episode_id": "e",
        "sample": 0,
        "status": "answered",
        "turns": (),
        "rows": (),
        "answer": "4",
        "ledger": ledger,
    }
    return Rollout(**(fields | changes))


def measures(cost_usd: float) -> Measures:
    return Measures(tool_counts={}, outcome=1.0, cost_usd=cost_usd, latency_s=0.0)


def group(*rollouts: Rollout) -> Group:
    scores = tuple(
        Score(
            reward=1.0,
            terms={},
            measures=measures(sum(e.cost_usd for e in item.ledger if e.kind != "judge")),
            verdict=Verdict(is_solved=True, decided_by="test"),
        )
        for item in rollouts
    )
    return Group(episode=EPISODE, rollouts=rollouts, scores=scores)


def trial(policy: str, cost_usd: float | None, item: Rollout) -> Trial:
    result = Result(
        policy=policy,
        world="local",
        episode="e",
        skill="math",
        preference="frugal",
        utility=None if cost_usd is None else 1.0,
        is_solved=None if cost_usd is None else 1.0,
        cost_usd=cost_usd,
        latency_s=None if cost_usd is None else 0.0,
        tool_counts={},
        num_calls=1,
        num_malformed=0,
        status=item.status,
    )
    return Trial(result=result, episode=EPISODE, rollout=item)


def write_run(run_dir: Path, steps: Sequence[Group] = (), trials: Sequence[Trial] = ()) -> Path:
    run_dir.mkdir(parents=True, exist_ok=True)
    if steps:
        log = TrajectoryLog(run_dir / TRAJECTORIES_FILE)
        for step, item in enumerate(steps):
            log.write(step, [item])
    if trials:
        records = TrialRecords(run_dir / EVALUATION_FILE, hashes={}, default_hash="abc")
        for number, item in enumerate(trials):
            records.write(replace(item, result=replace(item.result, trial=number)))
    return run_dir


def billed_as(item: LedgerEntry, cost_usd: float) -> LedgerEntry:
    return replace(item, cost_usd=cost_usd)
