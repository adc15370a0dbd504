"""`python report.py compare` from its words to its files."""

import argparse
import csv
from dataclasses import replace

import pytest
from tests.unit.report.ledgers import EPISODE, rollout, trial, write_run

from toolorchestra.command.compare import add_arguments


def compare(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args([str(word) for word in words])
    return arguments.run(arguments)


def played(number, policy, is_solved, cents, *, world="local", task=None):
    """One episode of its own task, played by a policy."""
    made = trial(policy, cents / 100, rollout())
    name = f"heldout-{number}"
    task = replace(EPISODE.task, id=f"task {number}", question=task or f"What is {number}?")
    result = replace(
        made.result, episode=name, world=world, is_solved=float(is_solved), utility=float(is_solved)
    )
    return replace(made, result=result, episode=replace(EPISODE, id=name, task=task))


@pytest.fixture
def runs(tmp_path):
    """Three episodes: the first run solves all, the second none, for a cent less each."""
    first = [played(n, "policy", True, 3) for n in range(3)]
    second = [played(n, "policy", False, 2) for n in range(3)]
    second += [played(n, "random", True, 3) for n in range(3)]
    return write_run(tmp_path / "a", trials=first), write_run(tmp_path / "b", trials=second)


def test_two_runs_are_compared_in_three_forms(runs, capsys):
    assert compare(*runs) == 0
    assert "A = a: policy against B = b: policy" in " ".join(capsys.readouterr().out.split())
    rows = list(csv.DictReader((runs[0] / "compare.csv").open()))
    assert [row["measure"] for row in rows] == ["accuracy", "cents", "seconds", "utility"]
    # three tasks, all solved by A alone: 2 / 8 for McNemar, and for the flips of 1, 1, 1
    assert [float(row["p"]) for row in rows] == [0.25, 0.25, 1.0, 0.25]
    assert float(rows[0]["A - B"]) == 1.0 and float(rows[1]["A - B"]) == pytest.approx(1.0)
    assert float(rows[0]["p, Holm"]) == 1.0
    text = (runs[0] / "compare.md").read_text()
    assert "solved by A alone 3, by B alone 0" in text and "simulated" in text
    assert r"\toprule" in (runs[0] / "compare.tex").read_text()


def test_any_policies_can_be_named_those_of_one_run_too(runs, tmp_path):
    out = tmp_path / "out"
    assert compare(runs[1], runs[1], "--policy", "random", "--out", out) == 0
    assert "b: random against B = b: policy" in (out / "compare.md").read_text()
    assert not (runs[1] / "compare.md").exists()


def test_worlds_of_other_names_are_compared_where_their_episodes_are_the_same(runs, tmp_path):
    seen = [played(n, "trained", True, 1, world="seen") for n in range(3)]
    elsewhere = [played(n, "trained", True, 1, world="transfer", task="x") for n in range(3)]
    trained = write_run(tmp_path / "trained", trials=[*elsewhere, *seen])
    assert compare(trained, runs[1]) == 0
    assert "| seen | accuracy |" in (trained / "compare.md").read_text()


def test_runs_of_the_same_name_are_told_apart_by_their_folders(runs, tmp_path):
    both = [
        write_run(tmp_path / f"seed={n}" / "x", trials=[played(1, "policy", True, 1)])
        for n in (1, 2)
    ]
    assert compare(*both) == 0
    assert "A = seed=1/x: policy against B = seed=2/x" in (both[0] / "compare.md").read_text()


def test_runs_that_share_a_part_of_their_episodes_are_compared_if_that_is_enough(runs, tmp_path):
    part = write_run(tmp_path / "part", trials=[played(n, "policy", True, 1) for n in (1, 2)])
    with pytest.raises(ValueError, match="share 2 of 3 and 2 episodes .*, or --shared"):
        compare(runs[0], part)
    assert not (runs[0] / "compare.md").exists()
    assert compare(runs[0], part, "--shared") == 0
    assert "2 shared episodes" in (runs[0] / "compare.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["A", "/no/such/run"], "/no/such/run holds no evaluation_trajectories.jsonl"),
        (["A", "B", "--against", "x"], "b has no policy x; name one with --policy or --against"),
        (["A", "OTHER"], "a: policy and other: policy share 0 of 3 and 1 tasks"),
        (["A", "NAMELESS"], "neither a trained nor an evaluated policy; name one with --policy"),
        (["A", "B", "--out", "/dev/null/x"], "--out: cannot write /dev/null/x/compare (Not a"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_one_sentence(runs, tmp_path, words, message):
    other = write_run(tmp_path / "other", trials=[played(0, "policy", True, 1, task="x")])
    nameless = write_run(tmp_path / "nameless", trials=[played(0, "random", True, 1)])
    places = {"A": runs[0], "B": runs[1], "OTHER": other, "NAMELESS": nameless}
    with pytest.raises(ValueError) as caught:
        compare(*(places.get(word, word) for word in words))
    assert message in str(caught.value) and "\n" not in str(caught.value)
