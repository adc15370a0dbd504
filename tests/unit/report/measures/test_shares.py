import pytest
from tests.unit.report.measures.attempts import evaluation, result, rows_of

from toolorchestra.benchmark.evaluate import ORACLE_BOUND
from toolorchestra.report.measures.figures import OTHERS, draw_call_shares, parts_of
from toolorchestra.report.measures.shares import call_shares, shares_table
from toolorchestra.report.stats import Estimate, bootstrap_ratio

SOME = evaluation(
    result("p", "e0", tool_counts={"a": 3, "b": 1}),
    result("p", "e1", 0.0, tool_counts={"a": 0, "c": 4}),  # b is not on offer here
    result("p", "e2", None, tool_counts={"a": 9}),
    result("q", "e0", tool_counts={"a": 0, "b": 0}),
    result(ORACLE_BOUND, "e0", 0.9),
)


def test_shares_are_of_all_calls_of_scored_trials():
    shares = call_shares(SOME, "seen")
    assert {name: found.value for name, found in shares["p"].items()} == {
        "a": 3 / 8,
        "b": 1 / 8,
        "c": 4 / 8,
    }
    assert shares["p"]["a"] == bootstrap_ratio([3.0, 0.0], [4.0, 4.0], clusters=["e0", "e1"])


def test_a_policy_that_calls_nothing_has_no_shares_and_the_bound_is_no_policy():
    assert call_shares(SOME, "seen")["q"] == {}
    assert ORACLE_BOUND not in call_shares(SOME, "seen")


def test_the_table_is_in_percent_under_the_names_that_readers_know():
    table = shares_table(SOME, "seen", call_shares(SOME, "seen"), {"c": "sim/C"})
    rows = rows_of(table)
    assert list(rows) == ["a", "b", "sim/C"]
    assert rows["a"]["p"].value == pytest.approx(37.5) and rows["a"]["q"] is None


def test_a_picture_shows_the_most_called_first_and_the_rarest_as_one():
    counts = {f"t{i:02d}": Estimate(value=v, low=v, high=v) for i, v in enumerate([0.05] * 20)}
    counts["t07"] = Estimate(value=0.5, low=0.5, high=0.5)
    parts = parts_of({"p": counts, "q": {}})
    assert list(parts)[:2] == ["t07", "t00"] and list(parts)[-1] == OTHERS and len(parts) == 11
    assert parts["t07"] == [0.5, 0.0] and parts[OTHERS] == pytest.approx([0.5, 0.0])


def test_shares_can_be_drawn_even_where_nobody_calls_anything(tmp_path):
    for shares in (call_shares(SOME, "seen"), {"q": {}}):
        png = tmp_path / "s.png"
        draw_call_shares(shares, png, shown_as={}, title="t", is_simulated=True)
        assert png.read_bytes().startswith(b"\x89PNG")
