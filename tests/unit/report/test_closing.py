"""What a run leaves behind when it ends."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from tests.unit.report.measures.attempts import attempt

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result
from toolorchestra.report.closing import (
    derived_turns,
    write_pictures,
    write_summary,
    write_tables,
)
from toolorchestra.report.comparison import compare
from toolorchestra.report.evaluation import START, TRAINED, Evaluation
from toolorchestra.report.metrics import MetricsCsv

UTILITIES = {START: 0.2, TRAINED: 0.6, "cheapest": 0.1, ORACLE_BOUND: 0.8}


def result(policy, number, world="seen"):
    return Result(
        policy=policy,
        world=world,
        episode=f"heldout-{number}",
        skill=("math", "code")[number % 2],
        preference="frugal",
        utility=UTILITIES[policy] + 0.01 * (number % 3),
        is_solved=float(number % 2),
        cost_usd=0.02,
        latency_s=3.0,
        tool_counts={"gpt_5": 1},
        num_calls=1,
        num_malformed=0,
        status="answered",
    )


@pytest.fixture
def evaluation():
    return Evaluation(
        results=tuple(result(policy, n) for policy in UTILITIES for n in range(12)),
        is_simulated=True,
    )


def test_tables_are_written_in_every_form_with_every_single_result(tmp_path, evaluation):
    main = write_tables(tmp_path, evaluation, {"gpt_5": "sim/gpt_5"})
    text = (tmp_path / "results.md").read_text()
    assert all(table.title in text for table in main)
    assert "sim/gpt_5" in text and "(sim/)" in text
    tables = json.loads((tmp_path / "results.json").read_text())
    # the main one, the differences, three breakdowns, shares of calls, and how trials ended
    assert len(tables) == 7
    for ending in ("csv", "tex"):
        assert len(list((tmp_path / "results").glob(f"*.{ending}"))) == 7
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert len(lines) == 4 * 12
    assert json.loads(lines[0])["tool_counts"] == {"gpt_5": 1}


def test_one_policy_alone_is_compared_with_nobody(tmp_path, evaluation):
    alone = [item for item in evaluation.results if item.policy == evaluation.subject]
    main = write_tables(tmp_path, replace(evaluation, results=tuple(alone)), {})
    assert not any("against the others" in table.title for table in main)
    assert any("against the others" in t.title for t in write_tables(tmp_path, evaluation, {}))


def played(evaluation, *, num_turns, **changes):
    """The evaluation with the attempts behind it."""
    attempts = [
        attempt(r.policy, r.episode, turn_usd=(0.001,) * num_turns, **changes)
        for r in evaluation.results
        if r.policy != ORACLE_BOUND
    ]
    return replace(evaluation, attempts=tuple(attempts), is_greedy=True, max_turns=50)


def test_what_trials_tell_is_written_where_it_applies(tmp_path, evaluation):
    told = played(evaluation, num_turns=11, confidence=0.5, is_asked_confidence=True)
    twice = [*told.results, *(replace(r, trial=1) for r in told.results)]
    main = write_tables(tmp_path, replace(told, results=tuple(twice)), {})
    assert {"pass@k", "calibration"} <= {word for t in main for word in t.title.split()}
    text = (tmp_path / "results.md").read_text()
    for title in ("what a trial takes", 'against "start"', "by turns allowed (derived)"):
        assert title in text


def test_limits_of_turns_are_told_of_greedy_trials_that_were_long_enough_for_one(evaluation):
    assert derived_turns(played(evaluation, num_turns=11), "seen")
    assert derived_turns(played(evaluation, num_turns=10), "seen") == []
    sampled = replace(played(evaluation, num_turns=11), is_greedy=False)
    assert derived_turns(sampled, "seen") == [] == derived_turns(evaluation, "seen")


def test_a_summary_holds_choices_and_figures_that_a_comparison_reads(tmp_path, evaluation):
    for seed in (1, 2):
        write_summary(tmp_path / str(seed), {"seed": seed}, evaluation, seconds=12.34)
    figures = json.loads((tmp_path / "1/summary.json").read_text())["metrics"]
    assert figures["seconds"] == 12.3
    # 0.6 and the mean of 0, 0.01, 0.02; twelve tasks at 2 cents, every second one solved
    assert figures["seen utility"]["value"] == pytest.approx(0.61)
    assert figures["seen cents"]["value"] == pytest.approx(2.0)
    assert figures["seen accuracy"]["value"] == pytest.approx(0.5)
    # (0.61 - 0.21) / (0.81 - 0.21)
    assert figures["seen closed"]["value"] == pytest.approx(2 / 3)
    assert "seed" in compare([tmp_path / "1", tmp_path / "2"]).columns


def test_a_run_without_evaluation_still_says_that_it_is_done(tmp_path):
    write_summary(tmp_path, {"seed": 1}, None, seconds=1.0)
    content = json.loads((tmp_path / "summary.json").read_text())
    assert content == {"config": {"seed": 1}, "metrics": {"seconds": 1.0}}


def test_the_figures_of_an_evaluation_alone_are_its_subjects(tmp_path, evaluation):
    alone = replace(evaluation, subject="cheapest", start=None)
    write_summary(tmp_path, {}, alone, seconds=1.0)
    figures = json.loads((tmp_path / "summary.json").read_text())["metrics"]
    assert figures.keys() == {"seconds", "seen utility", "seen accuracy", "seen cents"}
    assert figures["seen utility"]["value"] == pytest.approx(0.11)


def test_an_evaluation_of_a_world_of_any_name_needs_no_curve(tmp_path, evaluation):
    results = tuple(replace(one, world="local") for one in evaluation.results)
    options = {"title": "t", "frontier": [], "is_simulated": True, "shown_as": {}}
    write_pictures(tmp_path, replace(evaluation, results=results), **options)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"accuracy_over_cost.png", "call_shares.png"}


def test_a_share_that_is_not_defined_is_left_out_and_never_written_as_nan(tmp_path, evaluation):
    # the start equals the oracle: there is no distance to close
    bound = [replace(r, policy=ORACLE_BOUND) for r in evaluation.of(START, "seen")]
    rest = [r for r in evaluation.results if r.policy != ORACLE_BOUND]
    write_summary(tmp_path, {}, replace(evaluation, results=(*rest, *bound)), seconds=1.0)
    text = (tmp_path / "summary.json").read_text()
    assert json.loads(text)["metrics"]["seen closed"] is None
    assert "NaN" not in text and "Infinity" not in text


def test_pictures_are_drawn_of_what_there_is(tmp_path, evaluation):
    journal = MetricsCsv(tmp_path / "metrics.csv")
    frontier = [(0.0, 0.1), (1.0, 0.9)]
    options = {"title": "t", "frontier": frontier, "is_simulated": True, "shown_as": {}}
    write_pictures(tmp_path, None, **options)
    assert not list(tmp_path.glob("*.png"))
    frontier = json.loads((tmp_path / "frontier.json").read_text())
    assert frontier == [{"cents": 0.0, "accuracy": 0.1}, {"cents": 1.0, "accuracy": 0.9}]
    for step in range(3):
        journal.write(step, {"reward/mean": math.sin(step), "accuracy": 0.5, "utility": 0.1})
    write_pictures(tmp_path, played(evaluation, num_turns=11), **options)
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "accuracy_by_turns.png",
        "accuracy_over_cost.png",
        "call_shares.png",
        "reward_curve.png",
    }


def test_a_summary_tells_of_judges_and_users_where_they_were_paid_for(tmp_path, evaluation):
    judged = tuple(replace(one, judge_usd=0.01) for one in evaluation.results)
    write_summary(tmp_path, {}, replace(evaluation, results=judged), seconds=1.0)
    figures = json.loads((tmp_path / "summary.json").read_text())["metrics"]
    assert figures["seen judge cents"]["value"] == pytest.approx(1.0)
    assert "seen user cents" not in figures
    assert figures["seen cents"]["value"] == pytest.approx(2.0)
