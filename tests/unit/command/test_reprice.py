"""`python report.py reprice` from its words to its files and exit status."""

import argparse

import pytest
from tests.unit.report.ledgers import BIG, POLICY, billed_as, group, rollout, trial, write_run

from toolorchestra.command.reprice import add_arguments


def reprice(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args([str(word) for word in words])
    return arguments.run(arguments)


@pytest.fixture
def run_dir(tmp_path):
    # a price of conf/pricing for the policy; nobody sells Big
    tiny = billed_as(POLICY, 0.002)
    item = rollout(tiny, BIG)
    return write_run(tmp_path / "a run", [group(item)], [trial("p", 0.010, item)])


def test_a_run_is_repriced_into_its_own_folder(run_dir, capsys):
    assert reprice(run_dir, "pricing=alt") == 0
    out = capsys.readouterr().out
    assert "largest difference" in out and "deepinfra (version 2026-11-29)" in " ".join(out.split())
    text = (run_dir / "reprice.md").read_text()
    assert text.index("policy and tools") < text.index("by what was paid for")
    assert "| training | seen | 0 | 1 | 1.0000 | unknown (2) |" in text
    assert (run_dir / "reprice.csv").read_text().startswith("run,policy,world,steps,tasks,for,")
    assert (run_dir / "reprice.tex").read_text().count(r"\begin{table}") == 2


def test_each_schedule_that_may_be_drawn_is_a_column(run_dir, tmp_path):
    assert reprice(run_dir, "pricing=varied", f"out={tmp_path / 'out'}") == 0
    header = (tmp_path / "out" / "reprice.csv").read_text().splitlines()[0]
    for schedule in ("official", "fireworks", "nebius", "novita"):
        assert f"{schedule}_cents" in header
    assert not (run_dir / "reprice.csv").exists()


def test_several_runs_are_told_apart_and_kept_where_they_lie(tmp_path, capsys):
    runs = [write_run(tmp_path / f"seed={n}" / "x", [group(rollout(POLICY))]) for n in (1, 2)]
    assert reprice(*runs, "pricing=official") == 0
    text = (tmp_path / "reprice.md").read_text()
    assert "| seed=1/x | training |" in text and "| seed=2/x | training |" in text


def test_a_ledger_that_does_not_add_up_ends_with_status_1(tmp_path, capsys):
    wrong = rollout(billed_as(POLICY, 0.003))
    run = write_run(tmp_path, trials=[trial("p", 0.003, wrong)])
    assert reprice(run) == 1
    shown = capsys.readouterr()
    assert "largest difference 0.001 USD" in shown.out
    assert shown.err.startswith("error: the ledger does not add up: costs differ by up to 0.001")
    assert (run / "reprice.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pricing=alt"], "no run is given"),
        (["/no/such/run"], "/no/such/run holds neither trajectories.jsonl"),
        (["RUN", "out=/dev/null/x"], "out: cannot write /dev/null/x/reprice.md (Not a directory)"),
        (["RUN", "pricing=nope"], "Could not find 'pricing/nope'"),
        (["RUN", "pricing.jitters=2"], "pricing.jitters"),
        (["RUN", "pricing.draw=[x]"], "pricing.draw: 'x' is not allowed; use official"),
    ],
)
def test_what_cannot_be_repriced_is_refused_with_one_sentence(run_dir, words, message):
    with pytest.raises(ValueError) as caught:
        reprice(*(run_dir if word == "RUN" else word for word in words))
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert not (run_dir / "reprice.csv").exists()
