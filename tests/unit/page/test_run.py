import json

import pytest

from toolorchestra.page.run import check_is_run, read_files


def read(run_dir):
    told = []
    return read_files(run_dir, told.append), told


def test_a_folder_without_a_run_is_refused_with_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="holds no run"):
        check_is_run(tmp_path)
    with pytest.raises(ValueError, match="there is no such folder"):
        check_is_run(tmp_path / "nowhere")


def test_an_empty_run_is_a_run(tmp_path):
    (tmp_path / "run.json").write_text('{"command": "train.py", "pid": 7}')
    check_is_run(tmp_path)
    files, told = read(tmp_path)
    assert files.state.startswith("Not finished") and told == []
    assert files.described == {"command": "train.py"}
    assert files.metrics == {"steps": [], "values": {}} and files.tables == []


def test_the_state_of_a_run_is_told(tmp_path):
    (tmp_path / "error.txt").write_text("Traceback\nValueError: the disk is full\n")
    assert read(tmp_path)[0].state == "Ended by a fault: ValueError: the disk is full"
    (tmp_path / "summary.json").write_text("{}")
    assert read(tmp_path)[0].state == "Finished."


def test_metrics_are_columns_with_gaps(tmp_path):
    (tmp_path / "metrics.csv").write_text("step,a,b\n0,1.5,\n1,inf,2\n")
    assert read(tmp_path)[0].metrics == {
        "steps": [0, 1],
        "values": {"a": [1.5, None], "b": [None, 2]},
    }


def test_settings_are_flat_and_nothing_in_them_is_resolved(tmp_path):
    (tmp_path / "config.yaml").write_text(
        "model: {path: tiny}\nseeds: [1, 2]\nroot: ${oc.env:HOME}\n"
    )
    assert read(tmp_path)[0].settings == {
        "model.path": "tiny",
        "seeds": "[1, 2]",
        "root": "${oc.env:HOME}",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.json", "{"),
        ("results.json", "{}"),
        ("results.json", '[{"title": "t", "rows": [1]}]'),
        ("frontier.json", "[1,"),
        ("frontier.json", '[{"cents": "1", "accuracy": 0.5}]'),
        ("config.yaml", "a: [1"),
        ("metrics.csv", "step,a\n0,x\n"),
    ],
)
def test_a_damaged_file_is_left_out_and_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    _, told = read(tmp_path)
    assert len(told) == 1 and name in told[0] and "\n" not in told[0]


def test_tables_are_kept_as_the_run_wrote_them(tmp_path):
    tables = [{"title": "t", "note": "", "rows": [{"policy": "p", "utility": 1.0}]}]
    (tmp_path / "results.json").write_text(json.dumps(tables))
    assert read(tmp_path)[0].tables == tables
