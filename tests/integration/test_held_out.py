"""`benchmark=hle` and `benchmark=frames` from end to end, on made-up rows in the form of theirs.

The judge is a local server, which now and then answers nonsense.
"""

from __future__ import annotations

import json

import pytest
from tests.composed import composed
from tests.integration.test_real_experts import KEY, lines_of
from tests.unit.dataset.tables import parquet
from tests.unit.dataset.test_held_out import FRAMES, HLE
from tests.unit.judge.chat_server import chat_server, given_in

from toolorchestra.evaluate import evaluate
from toolorchestra.report.trajectories import read_trials

RIGHT = {"Fine dust that holds iron oxide scatters the light.", "Somebody Else"}
"""Answers that no matcher can find right in other words."""


def sometimes_nonsense(request):
    """Says what it should to every second answer, and nothing that can be read to the others."""
    sometimes_nonsense.asked += 1
    if sometimes_nonsense.asked % 2:
        return "The horse is as you say, my friend."
    is_right = any(right in given_in(request) for right in RIGHT)
    return json.dumps({"reasoning": "Read.", "verdict": "correct" if is_right else "incorrect"})


@pytest.mark.parametrize(("benchmark", "rows"), [("hle", HLE), ("frames", FRAMES)])
def test_what_the_judge_leaves_open_is_unscored_and_counted_and_never_wrong(
    tmp_path, monkeypatch, benchmark, rows
):
    monkeypatch.setenv("ACME_KEY", KEY)
    sometimes_nonsense.asked = 0
    with chat_server(sometimes_nonsense) as (url, requests):
        run_dir = evaluate(
            composed(
                f"benchmark={benchmark}",
                f"benchmark.dataset.table.path={parquet(tmp_path / 'rows.parquet', rows)}",
                "judge=llm",
                "judge.max_unscored_share=1",
                "judge.asks={number: wrong, choice: wrong}",
                f"judge.cache={tmp_path / 'judged.sqlite'}",
                "provider=mine",
                f"provider.providers.mine.base_url={url}",
                "provider.providers.mine.key_env=ACME_KEY",
                "+provider.providers.mine.models={GPT-5: judge}",
                "rollout.max_turns=4",
                "num_threads=1",
                output_dir=tmp_path / "run",
                command="evaluate",
            )
        )
    trials = list(read_trials(run_dir / "evaluation_trajectories.jsonl"))
    judged = [t for t in trials if t.verdict and t.verdict.decided_by == "judge:GPT-5"]
    assert requests and judged
    unread = [t for t in judged if t.verdict.is_solved is None]
    assert unread and all(t.result.is_solved is None for t in unread)
    assert all("cannot be read" in t.verdict.reason for t in unread)
    read = [t for t in judged if t.verdict.is_solved is not None]
    assert all(t.verdict.is_solved is (t.rollout.answer in RIGHT) for t in read)
    matched = [t for t in trials if t.verdict and t.verdict.decided_by.startswith("match:")]
    assert any(t.verdict.is_solved for t in matched)
    results = [r for r in lines_of(run_dir / "results.jsonl") if r["policy"] != "oracle bound"]
    assert len(results) == len(trials)
    assert sum(r["is_solved"] is None for r in results) == len(unread)
    tables = (run_dir / "results.md").read_text()
    assert "accuracy, all n" in tables and "scored n" in tables
    assert ("calibration" in tables) == (benchmark == "hle")
