import pytest

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result
from toolorchestra.report.evaluation import (
    POLICY,
    SIMULATED_NOTE,
    START,
    TRAINED,
    Evaluation,
    breakdown_table,
    calls_table,
    closed,
    comparison_table,
    goal_tables,
    main_table,
    points,
)
from toolorchestra.report.stats import wilson


def result(policy, episode, utility, **changes):
    fields = {
        "policy": policy,
        "world": "seen",
        "episode": episode,
        "skill": "math",
        "preference": "frugal",
        "utility": utility,
        "is_solved": None if utility is None else float(utility > 0),
        "cost_usd": None if utility is None else 0.02,
        "latency_s": None if utility is None else 4.0,
        "tool_counts": {} if utility is None else {"gpt": 1},
        "num_calls": 2,
        "num_malformed": 0,
        "status": "void" if utility is None else "answered",
    }
    return Result(**(fields | changes))


def bound(episode, utility, is_solved=0.9):
    return result(ORACLE_BOUND, episode, utility, is_solved=is_solved, tool_counts={}, num_calls=0)


def evaluation(*results, is_simulated=True):
    return Evaluation(results=results, is_simulated=is_simulated)


# Four episodes; the trained policy's third is void.
SOME = evaluation(
    *(result(START, f"e{i}", u) for i, u in enumerate((0.0, 1.0, 0.0, 0.5))),
    *(
        result(TRAINED, f"e{i}", u, num_calls=5, num_malformed=m, cost_usd=c and c / 100)
        for i, (u, c, m) in enumerate(
            [(1.0, 1.0, 0), (1.2, 2.0, 1), (None, None, 1), (0.0, 6.0, 0)]
        )
    ),
    *(bound(f"e{i}", u) for i, u in enumerate((1.4, 1.5, 1.3, 1.5))),
)


def rows_of(table):
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_the_main_table_by_hand():
    table = main_table(SOME, "seen")
    rows = rows_of(table)
    assert table.title == "seen world: 4 held-out episodes"
    assert table.note == SIMULATED_NOTE
    trained = rows[TRAINED]
    # Of the three scored: utility 2.2 / 3, solved 2 of 3, cents 9 / 3. Calls of all four: 2 of 20.
    assert trained["utility"].value == pytest.approx(2.2 / 3)
    assert trained["accuracy"] == wilson(2, 3)
    assert trained["cents"].value == pytest.approx(3.0)
    assert trained["seconds"].value == pytest.approx(4.0)
    assert trained["malformed %"] == pytest.approx(10.0)
    assert trained["void or unscored"] == 1
    assert rows[START]["utility"].value == pytest.approx(0.375)
    assert rows[START]["void or unscored"] == 0


def test_the_bounds_accuracy_is_a_mean_of_probabilities():
    row = rows_of(main_table(SOME, "seen"))[ORACLE_BOUND]
    assert row["accuracy"].value == pytest.approx(0.9)
    assert row["utility"].value == pytest.approx(5.7 / 4)
    assert row["malformed %"] == 0.0


def test_where_all_is_void_the_figures_are_absent_and_the_count_is_told():
    void = evaluation(result(TRAINED, "e0", None), result(TRAINED, "e1", None), bound("e0", 1.0))
    row = rows_of(main_table(void, "seen"))[TRAINED]
    assert [row[k] for k in ("utility", "accuracy", "cents", "seconds")] == [None] * 4
    assert row["void or unscored"] == 2
    assert comparison_table(void).rows[0] == ("seen", f"utility: trained - {ORACLE_BOUND}", None)
    assert points(void, "seen") == []
    assert closed(void, "seen") is None
    assert main_table(void, "seen").to_markdown()


def test_differences_are_paired_over_episodes_that_both_have_a_score_for():
    table = comparison_table(SOME)
    rows = {row[1]: row[2] for row in table.rows}
    # e0: 1.0 - 0.0, e1: 1.2 - 1.0, e3: 0.0 - 0.5: 0.7 / 3. Against the bound: -0.4, -0.3, -1.5.
    assert rows["utility: trained - start"].value == pytest.approx(0.7 / 3)
    assert rows[f"utility: trained - {ORACLE_BOUND}"].value == pytest.approx(-2.2 / 3)
    # From start to oracle over those three: 4.4 - 1.5 = 2.9; closed 2.2 - 1.5 = 0.7.
    assert rows["share of start-to-oracle closed"].value == pytest.approx(0.7 / 2.9)
    assert closed(SOME, "seen") == rows["share of start-to-oracle closed"]
    assert f"utility: trained - {TRAINED}" not in rows


def test_worlds_are_kept_apart():
    other = evaluation(
        *SOME.results,
        result(START, "e0", 0.0, world="transfer"),
        result(TRAINED, "e0", 1.0, world="transfer"),
        result(ORACLE_BOUND, "e0", 2.0, world="transfer"),
    )
    assert other.worlds == ["seen", "transfer"]
    assert other.policies == [START, TRAINED, ORACLE_BOUND]
    assert rows_of(main_table(other, "seen")) == rows_of(main_table(SOME, "seen"))
    assert main_table(other, "transfer").title == "transfer world: 1 held-out episodes"
    assert closed(other, "transfer").value == pytest.approx(0.5)


def test_a_policy_that_did_not_play_in_a_world_has_no_row_there():
    other = evaluation(*SOME.results, result(TRAINED, "e0", 1.0, world="transfer"))
    assert list(rows_of(main_table(other, "transfer"))) == [TRAINED]
    assert list(rows_of(breakdown_table(other, "transfer", "skill"))) == [TRAINED]
    assert calls_table(other, "transfer", {}).columns == ("tool", TRAINED)


@pytest.mark.parametrize("start", [1.0, 2.0])
def test_a_lucky_start_leaves_no_distance_to_close(start):
    lucky = evaluation(result(START, "e0", start), result(TRAINED, "e0", 1.0), bound("e0", 1.0))
    assert closed(lucky, "seen") is None
    assert comparison_table(lucky).to_json()


def test_the_breakdown_leaves_a_gap_where_a_policy_has_no_score():
    some = evaluation(
        result(START, "e0", 0.2, skill="logic"),
        result(START, "e1", 0.4),
        result(START, "e2", 0.8),
        result(TRAINED, "e0", None, skill="logic"),
        result(TRAINED, "e1", 1.0),
    )
    table = breakdown_table(some, "seen", "skill")
    rows = rows_of(table)
    assert table.columns == ("policy", "logic", "math")
    assert rows[START]["logic"].value == pytest.approx(0.2)
    assert rows[START]["math"].value == pytest.approx(0.6)
    assert rows[TRAINED]["logic"] is None
    assert breakdown_table(some, "seen", "preference").columns == ("policy", "frugal")


def test_tasks_of_domains_are_counted_by_domain_and_by_difficulty_with_wilsons_interval():
    def goal(policy, episode, utility, skill, difficulty):
        return result(policy, episode, utility, skill=skill, difficulty=difficulty)

    some = evaluation(
        goal(TRAINED, "e0", 1.0, "library", 1),
        goal(TRAINED, "e1", 0.0, "library", 2),
        goal(TRAINED, "e2", 1.0, "library", 2),
        goal(TRAINED, "e3", None, "clinic", 2),
        result(TRAINED, "e4", 1.0),
        goal("nothing", "e0", 0.0, "library", 1),
        goal("nothing", "e3", 0.0, "clinic", 2),
    )
    by_domain, by_difficulty = goal_tables(some, "seen")
    assert by_domain.title == "seen world: accuracy by domain"
    assert by_domain.columns == ("policy", "clinic", "library"), "a question belongs to no domain"
    assert rows_of(by_domain)[TRAINED]["library"] == wilson(2, 3)
    assert rows_of(by_domain)[TRAINED]["clinic"] is None
    assert rows_of(by_domain)["nothing"]["clinic"] == wilson(0, 1)
    assert by_difficulty.columns == ("policy", "1", "2")
    assert rows_of(by_difficulty)[TRAINED]["1"] == wilson(1, 1)
    assert rows_of(by_difficulty)[TRAINED]["2"] == wilson(1, 2)


def test_without_tasks_of_domains_there_are_no_such_tables():
    assert goal_tables(SOME, "seen") == []
    some = evaluation(*SOME.results, result(START, "e0", 1.0, world="goals", difficulty=1))
    assert goal_tables(some, "seen") == [] and len(goal_tables(some, "goals")) == 2


def test_calls_are_a_mean_over_the_episodes_that_offer_the_tool():
    some = evaluation(
        result(START, "e0", 1.0, tool_counts={"gpt": 2, "code": 0}),
        result(START, "e1", 1.0, tool_counts={"gpt": 1}),
        result(START, "e2", None),
        result(TRAINED, "e0", 1.0, tool_counts={"gpt": 0}),
        bound("e0", 1.0),
    )
    table = calls_table(some, "seen", {"gpt": "sim/GPT-5"})
    assert table.columns == ("tool", START, TRAINED)
    assert table.rows == (("code", 0.0, None), ("sim/GPT-5", 1.5, 0.0))


def test_the_points_are_the_policies_mean_cost_and_share_solved():
    found = {point.name: point for point in points(SOME, "seen")}
    assert list(found) == [START, TRAINED]
    assert found[TRAINED].cost_cents.value == pytest.approx(3.0)
    assert found[TRAINED].accuracy == wilson(2, 3)


def test_without_simulators_there_is_no_note():
    assert evaluation(is_simulated=False).note == ""
    assert "sim/" in SOME.note


def test_a_policy_of_unknown_origin_is_compared_with_all_others_and_has_closed_nothing():
    alone = Evaluation(
        results=(
            *(result(POLICY, f"e{i}", u) for i, u in enumerate((1.0, 0.5))),
            *(result("random", f"e{i}", u) for i, u in enumerate((0.5, 0.5))),
            *(bound(f"e{i}", 1.5) for i in range(2)),
        ),
        is_simulated=True,
        subject=POLICY,
        start=None,
    )
    table = comparison_table(alone)
    assert table.title.startswith('The policy "policy" against the others')
    # 1.0 - 0.5 and 0.5 - 0.5; 1.0 - 1.5 and 0.5 - 1.5
    assert {row[1]: row[2].value for row in table.rows} == {
        "utility: policy - random": pytest.approx(0.25),
        f"utility: policy - {ORACLE_BOUND}": pytest.approx(-0.75),
    }
    assert closed(alone, "seen") is None


def test_what_judges_and_users_cost_has_a_column_only_where_it_was_paid_for():
    assert not {"judge cents", "user cents"} & set(main_table(SOME, "seen").columns)
    judged = evaluation(
        result(START, "e0", 1.0, judge_usd=0.02),
        result(START, "e1", None, judge_usd=0.04),
        bound("e0", 1.0),
    )
    table = main_table(judged, "seen")
    assert table.columns[-1] == "judge cents"
    rows = rows_of(table)
    # (2 + 4) / 2: the judge of what could not be scored is paid too; the policy's own stay 2 cents
    assert rows[START]["judge cents"].value == pytest.approx(3.0)
    assert rows[START]["cents"].value == pytest.approx(2.0)
    assert rows[ORACLE_BOUND]["judge cents"] is None


def test_a_column_that_one_world_pays_for_is_in_all_worlds_tables():
    both = evaluation(
        result(START, "e0", 1.0, world="transfer", user_usd=0.01), result(START, "e0", 1.0)
    )
    assert rows_of(main_table(both, "seen"))[START]["user cents"].value == 0.0


def test_of_several_trials_at_an_episode_the_mean_is_compared_and_tasks_are_resampled():
    several = evaluation(
        result(TRAINED, "e0", 1.0),
        result(TRAINED, "e0", 0.0, trial=1),
        result(TRAINED, "e1", 1.0),
        result(TRAINED, "e1", 1.0, trial=1),
        result(START, "e0", 0.0),
        result(START, "e1", 0.5),
    )
    (difference, _) = (row[2] for row in comparison_table(several).rows)
    assert difference.value == pytest.approx(0.5)  # 0.5 - 0 and 1 - 0.5
    row = rows_of(main_table(several, "seen"))[TRAINED]
    assert row["accuracy"].value == pytest.approx(0.75) and row["accuracy"].high == 1.0
    assert main_table(several, "seen").title == "seen world: 2 held-out episodes, 2 trials each"


def test_trials_are_paired_with_their_like_and_an_episode_counts_once_as_a_cluster():
    # Trials of the same number differ by 1 each; paired crosswise, differences would be 0 and 2.
    utilities = {START: (0.0, 1.0), TRAINED: (1.0, 2.0)}
    some = evaluation(
        *(
            result(policy, f"e{episode}", u, trial=trial)
            for policy, of_trials in utilities.items()
            for episode in range(3)
            for trial, u in enumerate(of_trials)
        )
    )
    difference = comparison_table(some).rows[0][2]
    assert (difference.value, difference.low, difference.high) == (1.0, 1.0, 1.0)
    table = main_table(some, "seen")
    assert table.title == "seen world: 3 held-out episodes, 2 trials each"
    # each episode has one right trial of two: over episodes nothing varies
    accuracy = rows_of(table)[START]["accuracy"]
    assert (accuracy.value, accuracy.low, accuracy.high) == (0.5, 0.5, 0.5)
