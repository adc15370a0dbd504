"""Trajectories by hand, with what a hostile model or server could write among them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.unit.report.ledgers import BIG, EPISODE, POLICY, rollout, trial

from toolorchestra.page.attempts import Attempt
from toolorchestra.page.blocks import pack
from toolorchestra.page.bodies import Bodies
from toolorchestra.page.gather import Gathered
from toolorchestra.page.index import Index
from toolorchestra.page.sums import Sums
from toolorchestra.page.tokens import Pieces
from toolorchestra.types import (
    Episode,
    Measures,
    Rollout,
    Score,
    ToolCall,
    ToolResult,
    Turn,
    Verdict,
)

HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
    "<a href=javascript:window.hacked=3>&lt;b&gt; "
    "\u2028\u0000\u202e\ud800 {{ 7*7 }} ${7*7} ]]> <!--"
)
"""Markup, a line separator, NUL, an override of direction, half a surrogate pair, templates."""


def turn(**changes: Any) -> Turn:
    fields: dict[str, Any] = {
        "prompt_tokens": 100,
        "completion_ids": (),
        "logprobs": (),
        "version": 3,
        "finish_reason": "stop",
        "text": "calls big",
        "thinking": "",
        "calls": (ToolCall(id="c", name="big", arguments={"question": "2 + 2"}),),
        "errors": (),
        "results": (
            ToolResult(call_id="c", name="big", content="It is 4.", status="ok", cost_usd=0.008),
        ),
        "policy_cost_usd": 0.002,
    }
    return Turn(**(fields | changes))


def episode(**changes: Any) -> Episode:
    """E.g. `episode(id="e1", question="Why?")`."""
    task = replace(EPISODE.task, question=changes.pop("question", EPISODE.task.question))
    return replace(EPISODE, task=task, **changes)


def played(*turns: Turn, **changes: Any) -> Rollout:
    return rollout(
        POLICY, BIG, turns=turns or (turn(), turn(text="4", calls=(), results=())), **changes
    )


def evaluated(policy: str = "policy", **changes: Any) -> Attempt:
    """An evaluation's rollout: 1 cent, solved."""
    item = changes.pop("rollout", played())
    fields: dict[str, Any] = {
        "policy": policy,
        "world": "local",
        "step": None,
        "episode": EPISODE,
        "rollout": item,
        "verdict": Verdict(is_solved=True, decided_by="match:number"),
        "score": None,
        "result": trial(policy, 0.010, item).result,
    }
    return Attempt(**(fields | changes))


def trained(step: int, **changes: Any) -> Attempt:
    """A training's rollout: 1 cent, solved, reward 0.75."""
    verdict = Verdict(is_solved=True, decided_by="match:number", reason="equal")
    score = Score(
        reward=0.75,
        terms={"outcome": 1.0, "cost": -0.25},
        measures=Measures(tool_counts={}, outcome=1.0, cost_usd=0.010, latency_s=3.0),
        verdict=verdict,
    )
    fields = {"policy": "training", "world": "seen", "step": step, "verdict": verdict}
    return evaluated(**(fields | {"score": score, "result": None} | changes))


def gathered(
    *runs: list[Attempt], title: str = "made up", tokenizer: Path | None = None
) -> Gathered:
    """What a page of these runs shows, without reading any folder."""
    index, chunks = Index(), list[str]()
    bodies = Bodies(lambda text: chunks.append(pack(text)))
    pieces = Pieces(tokenizer)
    records = []
    for number, attempts in enumerate(runs):
        sums: dict[tuple[str, str], Sums] = {}
        for attempt in attempts:
            chunk, position = bodies.add(attempt, pieces)
            index.add(number, attempt, chunk=chunk, position=position)
            key = attempt.policy, attempt.world
            sums.setdefault(key, Sums(policy=key[0], world=key[1])).add(attempt)
        records.append(_record(number, len(attempts), sums))
    bodies.flush()
    return Gathered(title=title, runs=records, index=index.to_json(), chunks=chunks)


def _record(number: int, num: int, sums: dict[Any, Sums]) -> dict[str, Any]:
    estimate = {"value": 0.5 + number / 10, "low": 0.4, "high": 0.8}
    row = {"policy": "trained", "accuracy": estimate, "cents": estimate, "seconds": estimate}
    return {
        "letter": "AB"[number],
        "name": f"run {number}",
        "folder": f"/runs/{number}",
        "state": "Finished.",
        "notes": [],
        "is_simulated": True,
        "described": {"command": "train.py"},
        "metrics": {"steps": [0, 1, 2], "values": {"reward/mean": [0.1, None, 0.3 + number]}},
        "tables": [{"title": "seen world: 8 held-out episodes", "note": "", "rows": [row]}],
        "frontier": [{"cents": 0.1, "accuracy": 0.3}, {"cents": 0.6, "accuracy": 0.9}],
        "settings": {"seed": str(number)},
        "sums": [item.to_json() for item in sums.values()],
        "num_trajectories": num,
    }
