import pytest
from tests.unit.report.ledgers import BIG, POLICY, group, rollout, trial, write_run

from toolorchestra.page.gather import gather


def test_runs_keep_their_order_and_names_tell_them_apart(tmp_path):
    runs = [write_run(tmp_path / f"seed={n}" / "x", [group(rollout(POLICY))]) for n in (2, 1)]
    found = gather(runs)
    assert [(run["letter"], run["name"]) for run in found.runs] == [
        ("A", "seed=2/x"),
        ("B", "seed=1/x"),
    ]
    assert found.title == "seed=2/x, seed=1/x"
    assert [source["run"] for source in found.index["sources"]] == [0, 1]


def test_a_run_named_twice_counts_once(tmp_path):
    run = write_run(tmp_path, [group(rollout(POLICY))])
    assert len(gather([run, run]).runs) == 1


def test_an_evaluation_that_was_broken_off_has_tables_of_what_was_played(tmp_path):
    run = write_run(tmp_path, trials=[trial("p", 0.008, rollout(BIG))])
    [record] = gather([run]).runs
    assert any("has not ended" in note for note in record["notes"])
    table = record["tables"][0]
    assert table["title"] == "local world: 1 held-out episodes"
    assert table["rows"][0]["policy"] == "p" and table["rows"][0]["cents"]["value"] == 0.8


def test_what_is_missing_is_said(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    [record] = gather([tmp_path]).runs
    assert record["notes"] == [
        "It has logged no trajectory.",
        "It has no step of training, and so no curves.",
        "It has no evaluation, and so no tables of results.",
    ]


def test_one_folder_without_a_run_refuses_the_whole_report(tmp_path):
    good = write_run(tmp_path / "good", [group(rollout(POLICY))])
    (tmp_path / "bad").mkdir()
    with pytest.raises(ValueError, match="bad holds no run"):
        gather([good, tmp_path / "bad"])
    with pytest.raises(ValueError, match="1 to 26 runs; got 0"):
        gather([])
