import pytest
from tests.unit.report.measures.attempts import evaluation, result, rows_of

from toolorchestra.benchmark.evaluate import ORACLE_BOUND
from toolorchestra.report.measures.outcomes import outcomes_table
from toolorchestra.report.stats import wilson


def test_shares_are_of_all_trials_and_both_accuracies_are_told():
    table = outcomes_table(
        evaluation(
            result("p", "e0"),
            result("p", "e1", 0.0, status="max_turns"),
            result("p", "e2", None, status="void"),
            result("p", "e3", None),  # answered, but no judge decided
            result("q", "e0", 0.0, status="over_budget"),
            result(ORACLE_BOUND, "e0", 0.9, status="expected"),
        ),
        "seen",
    )
    rows = rows_of(table)
    assert list(rows) == ["p", "q"]
    assert rows["p"] == {
        "policy": "p",
        "n": 4,
        "accuracy, all n": wilson(1, 4),
        "scored n": 2,
        "accuracy, scored": wilson(1, 2),
        "answered %": 50.0,
        "max_turns %": 25.0,
        "over_budget %": 0.0,
        "void %": 25.0,
        "unscored %": 25.0,
    }
    assert rows["q"]["over_budget %"] == 100.0 and rows["q"]["void %"] == 0.0


def test_where_nothing_is_scored_only_the_accuracy_over_all_is_told():
    row = rows_of(outcomes_table(evaluation(result("p", "e0", None, status="void")), "seen"))["p"]
    assert row["accuracy, scored"] is None and row["accuracy, all n"] == wilson(0, 1)


def test_several_trials_a_task_widen_the_interval():
    many = [result("p", f"e{i % 4}", float(i % 4 < 2), trial=i // 4) for i in range(40)]
    row = rows_of(outcomes_table(evaluation(*many), "seen"))["p"]
    found, narrow = row["accuracy, scored"], wilson(20, 40)
    assert found.value == pytest.approx(0.5)
    assert found.low < narrow.low and found.high > narrow.high
