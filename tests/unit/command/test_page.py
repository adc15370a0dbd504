"""`python report.py page` from its words to its file and exit status."""

import argparse

import pytest
from tests.unit.report.ledgers import POLICY, group, rollout, write_run

from toolorchestra.command.page import add_arguments
from toolorchestra.page.document import MARK


def page(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args([str(word) for word in words])
    return arguments.run(arguments)


@pytest.fixture
def run_dir(tmp_path):
    return write_run(tmp_path / "a run", [group(rollout(POLICY))])


def test_the_page_goes_into_the_run_s_folder_and_may_be_written_again(run_dir, capsys):
    assert page(run_dir) == page(run_dir) == 0
    assert MARK in (run_dir / "report.html").read_text()
    assert "1 run, 1 trajectories" in capsys.readouterr().out


def test_the_page_of_several_runs_goes_where_they_all_lie(run_dir, tmp_path, capsys):
    other = write_run(tmp_path / "another", [group(rollout(POLICY))])
    assert page(run_dir, other) == 0
    assert (tmp_path / "report.html").exists()
    assert page(run_dir, other, f"out={tmp_path / 'x.html'}") == 0
    assert (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["out=x.html"], "no run is given"),
        (["RUN/.."], "holds no run"),
        (["/no/such/run"], "there is no such folder"),
        (["RUN", "out="], "out: nothing is not allowed; use one file"),
        (["RUN", "out=RUN"], "is a folder; use a file"),
        (["RUN", "out=RUN/trajectories.jsonl"], "exists and is no report"),
        (["RUN", "out=/dev/null/x"], "out: cannot write /dev/null/x ("),
    ],
)
def test_what_cannot_be_shown_is_refused_with_one_sentence(run_dir, words, message):
    before = sorted(path.name for path in run_dir.iterdir())
    with pytest.raises(ValueError) as caught:
        page(*(word.replace("RUN", str(run_dir)) for word in words))
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert sorted(path.name for path in run_dir.iterdir()) == before
