from dataclasses import replace

import pytest
from tests.invariant.records import entry, episode, preference, result, rollout, turn

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.reward.config import RewardConfig
from toolorchestra.reward.outcome import judge_answer
from toolorchestra.rollout.group import Played
from toolorchestra.rollout.pool import Batch
from toolorchestra.trainer.collect import Scorer, reward_preference, step_data
from toolorchestra.types import CallError, Row, Task

ROW = Row(ids=(5, 6, 7), loss_mask=(0, 0, 1), logprobs=(0.0, 0.0, -1.0), versions=(-1, -1, 0))
UNPREDICTED = Row(ids=(5, 6), loss_mask=(1, 0), logprobs=(-1.0, 0.0), versions=(0, -1))
ERROR = CallError(message="no JSON", text="{")
GIVEN = episode(wanted=preference(outcome=1.0))


def attempt(sample, answer="4", *, rows=(ROW,), **changes):
    fields = {"rows": rows, "sample": sample, "answer": answer}
    return rollout(turn(result("a")), turn(text="4"), **(fields | changes))


def verdict(task, attempted):
    return None if attempted.status == "void" else judge_answer(task, attempted.answer)


def collect(*groups, algorithm=None, given=GIVEN, num_void=0, version=0, **batch):
    """One step whose episodes ended as `groups` say."""
    score = Scorer(reward=RewardConfig(name="paper"), algorithm=algorithm or AlgorithmConfig())
    scored = [
        score(
            Played(
                episode=replace(given, id=f"e{i}"),
                rollouts=tuple(group),
                verdicts=tuple(verdict(given.task, attempted) for attempted in group),
                num_void=num_void,
            )
        )
        for i, group in enumerate(groups)
    ]
    counts = {"num_replaced": 0, "num_stale": 0, "num_ahead": 0} | batch
    return step_data(Batch(groups=tuple(scored), **counts), version=version, rollout_s=2.0)


MIXED = [attempt(0, "4"), attempt(1, "5"), attempt(2, "6"), attempt(3, "7")]


def test_advantages_go_to_the_rows_of_each_rollout():
    # Rewards 1, 0, 0, 0: mean 1/4, deviation sqrt(3)/4; (1 - 1/4) / that = sqrt(3), -1/sqrt(3).
    data = collect(MIXED)
    assert [item.advantage for item in data.rows] == pytest.approx([3**0.5] + [-(3**-0.5)] * 3)
    assert [item.name for item in data.rows] == [f"episode-0/{i}" for i in range(4)]
    assert all(item.row == ROW for item in data.rows)


def test_groups_stay_in_the_order_of_their_episodes():
    assert [group.episode.id for group in collect(MIXED, MIXED).groups] == ["e0", "e1"]


def test_staleness_is_counted_in_updates_by_loss_token():
    # The only loss token of each row was sampled by version 0, trained on at version 3.
    assert collect(MIXED, version=3).metrics["pool/staleness"] == 3.0
    assert collect([attempt(i) for i in range(4)]).metrics["pool/staleness"] == 0.0


def test_what_the_pool_replaced_and_gave_up_is_told():
    metrics = collect(MIXED, num_replaced=2, num_stale=1, num_ahead=4).metrics
    assert metrics["drops/num_replaced_groups"] == 2.0
    assert metrics["drops/num_stale_groups"] == 1.0
    assert metrics["pool/num_groups_ahead"] == 4.0
    assert metrics["time/rollout_s"] == 2.0


def test_a_group_whose_rewards_are_alike_is_dropped_whole():
    data = collect([attempt(i) for i in range(4)], MIXED)
    assert len(data.rows) == 4
    assert data.metrics["drops/num_homogeneous_groups"] == 1
    assert data.metrics["drops/num_homogeneous"] == 4
    assert data.metrics["drops/num_dropped"] == 4
    assert data.metrics["accuracy"] == pytest.approx(5 / 8)  # dropped ones are told of all the same


def test_a_step_whose_groups_are_all_dropped_gives_no_rows():
    data = collect([attempt(i) for i in range(4)], [attempt(i, "5") for i in range(4)])
    assert data.rows == ()
    assert data.metrics["drops/num_dropped"] == data.metrics["drops/num_rollouts"] == 8


def test_malformed_and_unanswered_rollouts_lose_their_rows_and_still_count():
    faulty = rollout(turn(errors=(ERROR,)), turn(text="4"), rows=(ROW,), sample=1)
    silent = attempt(2, None, status="max_turns")
    data = collect([attempt(0), faulty, silent, attempt(3, "5")])
    # Rewards 1, 1, 0, 0: advantages 1, 1, -1, -1.
    assert [(item.name[-1], item.advantage) for item in data.rows] == [("0", 1.0), ("3", -1.0)]
    assert data.metrics["drops/num_malformed"] == 1
    assert data.metrics["drops/num_invalid"] == 1
    keep_all = AlgorithmConfig(drop_malformed=False, drop_invalid=False)
    kept = collect([attempt(0), faulty, silent, attempt(3, "5")], algorithm=keep_all)
    # The faulty one solved the task too, but failed: rewards 1, 0, 0, 0; mean 1/4, std sqrt(3)/4.
    assert [item.advantage for item in kept.rows] == pytest.approx([3**0.5, *[-(3**-0.5)] * 3])


def test_void_and_undecided_rollouts_neither_train_nor_count():
    # Solved, failed, void: rewards 1, 0. The player had two voids, one of which it replaced.
    group = [attempt(0), attempt(1, "5"), attempt(2, None, status="void")]
    data = collect(group, num_void=2)
    assert [item.advantage for item in data.rows] == [1.0, -1.0]
    assert data.metrics["drops/num_void"] == 2
    assert data.metrics["drops/num_unscored"] == 1
    assert data.metrics["accuracy"] == 0.5
    # A gold answer without a number cannot be compared as one: nothing is decided.
    task = Task(id="t", skill="math", question="?", answer="none", answer_kind="number")
    data = collect(MIXED, given=replace(GIVEN, task=task))
    assert data.rows == ()
    assert data.metrics["drops/num_unscored"] == 4
    assert data.metrics["drops/num_void"] == 0
    assert data.groups[0].scores == ()


def test_a_group_without_any_score_is_harmless_where_no_filter_drops_it():
    voids = [attempt(i, None, status="void") for i in range(2)]
    data = collect(voids, MIXED, algorithm=AlgorithmConfig(homogeneity_std=0))
    assert len(data.rows) == 4
    assert data.metrics["drops/num_unscored"] == 2


def test_a_rollout_as_good_as_the_mean_still_counts_in_the_batch():
    # Costs 0, 1, 2 cents under P = outcome 1, cost 1: rewards 1, 0.5, 0 (all solved: no outcome).
    # Its advantage is 0, but its tokens are part of the loss's mean and of any KL term.
    given = episode(wanted=preference(outcome=1.0, cost=1.0))
    group = [attempt(i, ledger=(entry("tool", 0.01 * i),)) for i in range(3)]
    advantages = [item.advantage for item in collect(group, given=given).rows]
    assert advantages == pytest.approx([1.5**0.5, 0.0, -(1.5**0.5)])


def test_all_rows_of_a_rollout_share_its_advantage_and_rows_without_loss_are_left_out():
    group = [attempt(0, rows=(ROW, ROW, UNPREDICTED)), attempt(1, "5", rows=())]
    data = collect(group)
    assert [(item.name, item.advantage) for item in data.rows] == [("episode-0/0", 1.0)] * 2


def test_the_metrics_name_every_phase_and_drop():
    metrics = collect(MIXED).metrics
    wanted = {
        *("reward/mean", "reward/outcome", "reward/cost", "reward/latency", "reward/tools"),
        *("accuracy", "utility", "cost_cents", "latency_s", "turns", "tokens/sampled"),
        *("calls/a", "calls/b", "calls/malformed_share", "time/rollout_s", "time/score_s"),
        *("drops/num_groups", "drops/num_rollouts", "drops/num_dropped", "drops/num_void"),
        *("drops/num_unscored", "drops/num_malformed", "drops/num_invalid"),
    }
    assert wanted <= metrics.keys()
    assert all(isinstance(value, float) for value in metrics.values())


def test_the_reward_weighs_the_episodes_preference_as_its_options_say():
    given = episode(wanted=preference(outcome=1.0, cost=0.5, a=1.0))
    options = RewardConfig(name="x")
    options.weights.cost, options.weights.tools = 0.5, 0.0
    weighed = reward_preference(given, options)
    assert (weighed.outcome, weighed.cost, weighed.tools) == (1.0, 0.25, {"a": 0.0})
    fixed = reward_preference(given, replace(options, preference="fixed"))
    assert (fixed.cost, fixed.tools) == (0.5, {})
