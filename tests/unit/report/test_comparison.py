import json

import pytest

from toolorchestra.report.comparison import compare
from toolorchestra.report.stats import Estimate


@pytest.fixture
def sweep(tmp_path):
    points = [("local", 0.7), ("unseen", 0.6)]
    for number, (toolset, utility) in enumerate(points):
        folder = tmp_path / str(number)
        folder.mkdir()
        config = {"toolset": toolset, "seed": 1}
        metrics = {"utility": {"value": utility, "low": 0.5, "high": 0.8}, "episodes": 200}
        (folder / "summary.json").write_text(json.dumps({"config": config, "metrics": metrics}))
    return [tmp_path / "0", tmp_path / "1"]


def test_only_what_differs_becomes_a_column_and_the_rest_a_note(sweep):
    table = compare(sweep)
    assert table.columns == ("run", "toolset", "utility", "episodes")
    assert table.rows[1] == ("1", "unseen", Estimate(value=0.6, low=0.5, high=0.8), 200)
    assert table.note == "All runs: seed=1."


def test_figures_can_be_chosen_and_may_be_absent_from_a_run(sweep):
    table = compare(sweep, metrics=["episodes", "accuracy"])
    assert table.rows[0] == ("0", "local", 200, None)


def test_an_override_that_only_one_run_has_is_a_difference(sweep):
    content = json.loads((sweep[0] / "summary.json").read_text())
    content["config"]["pricing"] = "alt"
    (sweep[0] / "summary.json").write_text(json.dumps(content))
    table = compare(sweep, metrics=[])
    assert table.rows == (("0", "local", "alt"), ("1", "unseen", None))


def test_an_unfinished_run_is_named(sweep):
    (sweep[1] / "summary.json").unlink()
    with pytest.raises(ValueError, match=r"1/summary\.json does not exist: the run has not"):
        compare(sweep)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"config": {}}', '{"config": 1, "metrics": 2}']
)
def test_a_corrupt_summary_is_named_in_one_sentence(sweep, text):
    (sweep[0] / "summary.json").write_text(text)
    with pytest.raises(ValueError, match=r"0/summary\.json is no run summary") as caught:
        compare(sweep)
    assert "\n" not in str(caught.value)


def test_no_runs_cannot_be_compared():
    with pytest.raises(ValueError, match="no runs"):
        compare([])
