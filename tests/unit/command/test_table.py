"""`python report.py table` from its words to its files and exit status."""

import argparse
from pathlib import Path

import pytest
from tests.unit.experiment.declared import YAML, write_experiment
from tests.unit.experiment.test_extract import write_finished

from toolorchestra.command.table import add_arguments, digest
from toolorchestra.experiment.declared import is_experiment


def table(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args([str(word) for word in words])
    return arguments.run(arguments)


@pytest.fixture
def folder(tmp_path):
    text = YAML.replace("worlds: [hle]", "worlds: [local]").replace("model: big", "model: tiny")
    return write_experiment(tmp_path / "experiments" / "table9", text)


def test_a_folder_alone_means_this_command(folder, tmp_path):
    assert is_experiment(folder)
    assert not is_experiment(tmp_path) and not is_experiment(Path("reprice"))


def test_tables_are_printed_and_kept_in_three_forms(folder, capsys):
    assert table(folder) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Table 9: the paper's figures" in out and "Missing: first, second." in out
    for name in ("table", "local/table"):
        assert all((folder / f"{name}.{kind}").is_file() for kind in ("md", "tex", "csv"))
    assert not (folder / "local" / "figure.png").exists()


def test_out_leaves_the_folder_as_it_is(folder, tmp_path):
    assert table(folder.parent, "--out", tmp_path / "out") == 0
    assert (tmp_path / "out" / "table9" / "local" / "table.tex").is_file()
    assert {path.name for path in folder.iterdir()} == {"experiment.yaml", "paper.csv"}


def test_a_finished_run_of_the_real_thing_is_taken_into_its_row(folder, tmp_path):
    run = write_finished(tmp_path / "run")
    assert table(folder, run) == 0
    (kept,) = (folder / "real").iterdir()
    assert kept.name == "local-tiny-1.json"
    assert "| Big | 35.1 | 100.0 ± " in (folder / "table.md").read_text()


def test_a_run_that_belongs_to_no_row_is_refused_with_its_options(tmp_path):
    folder = write_experiment(tmp_path / "table9")
    with pytest.raises(ValueError, match="no row of table9: it was run with model=tiny, seed=1"):
        table(folder, write_finished(tmp_path / "run"))
    assert not (folder / "real").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scale", "tiny"], "use --out FOLDER as well"),
        (["--jobs", "0"], "--jobs: 0 is not allowed; use a whole number from 1"),
    ],
)
def test_options_that_would_do_harm_are_refused(folder, words, message):
    with pytest.raises(ValueError, match=message):
        table(folder, *words)


def test_words_that_do_not_compose_are_named():
    with pytest.raises(ValueError, match=r"evaluate\.py toolset=none_such: "):
        digest("evaluate", ["toolset=none_such"])
