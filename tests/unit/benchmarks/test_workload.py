"""The workload of `benchmarks/rollout`: its latencies, and that both sides do the same work."""

from random import Random
from statistics import fmean, quantiles

import pytest
from benchmarks.rollout import workload
from benchmarks.rollout.actors import Sleeper, counts, make_stage, play
from benchmarks.rollout.engines import make_engine
from benchmarks.rollout.jobs import check_alike
from benchmarks.rollout.table import BEGIN, END, insert

ROWS, TURNS = range(2), range(workload.NUM_CALLS + 1)


def test_the_heavy_tail_has_the_mean_and_the_99th_percentile_it_was_solved_for():
    mu, sigma = workload.lognormal(1.0, 10.0)
    assert (mu, sigma) == pytest.approx((-1.0198, 1.4282), abs=1e-4)
    rng = Random(0)
    drawn = [rng.lognormvariate(mu, sigma) for _ in range(200_000)]
    assert fmean(drawn) == pytest.approx(1.0, rel=0.03)
    assert quantiles(drawn, n=100)[98] == pytest.approx(10.0, rel=0.05)


def test_no_lognormal_has_its_99th_percentile_beyond_fifteen_means():
    with pytest.raises(ValueError, match="no lognormal of mean 1 has its 99th percentile at 15"):
        workload.lognormal(1.0, 15.0)


def test_a_call_takes_the_same_time_on_both_sides_and_no_two_take_the_same():
    calls = [(row, turn) for row in range(64) for turn in range(workload.NUM_CALLS)]
    taken = [workload.latency_s("heavy", *call) for call in calls]
    assert taken == [
        workload.latency_s("heavy", *workload.call_of({"query": workload.query(*call)}))
        for call in calls
    ]
    assert len(set(taken)) == len(calls)
    assert workload.latency_s("heavy", 3, 1, scale=1.0) == pytest.approx(
        10 * workload.latency_s("heavy", 3, 1)
    )


def test_every_message_of_the_script_has_the_same_length():
    lengths = {len(workload.message_ids(row, turn)) for row in range(1300) for turn in TURNS}
    assert lengths == {workload.NUM_TOKENS}


def test_our_side_makes_the_calls_and_samples_the_tokens_that_the_script_has():
    tool = Sleeper("none")
    stage = make_stage(tool, max_concurrent=len(ROWS))
    with make_engine("transformers", workload.build_model(), num_rows=len(ROWS)) as engine:
        rollouts = play(stage, engine, num_groups=1, group_size=len(ROWS))
        num_sampled = engine.num_sampled
    stage.close()
    scripted = [[tuple(workload.message_ids(row, turn)) for turn in TURNS] for row in ROWS]
    assert [[turn.completion_ids for turn in one.turns] for one in rollouts] == scripted
    # 2 rollouts of 4 calls and 5 messages, each of which the engine sampled before it was replaced
    assert tool.num_calls == 8
    assert num_sampled == 2 * 5 * workload.NUM_TOKENS == 240
    played = counts(rollouts)
    assert (played["rows"], played["calls"], played["sampled"]) == (2, 8, 240)


def test_sides_that_played_different_things_are_not_compared():
    same = {"rows": 2, "calls": 8, "sampled": 240, "tokens": 888, "rollout_s": 1.0}
    check_alike({"peer/none": same, "transformers/none": same | {"rollout_s": 2.0}})
    with pytest.raises(RuntimeError, match="transformers/none and the peer played different"):
        check_alike({"peer/none": same, "transformers/none": same | {"tokens": 889}})


def test_the_table_replaces_what_stood_between_its_marks():
    text = f"before\n{BEGIN}\nold\n{END}\nafter"
    assert insert(text, "new") == f"before\n{BEGIN}\nnew\n{END}\nafter"
    with pytest.raises(ValueError, match="no place for the table"):
        insert("before", "new")
