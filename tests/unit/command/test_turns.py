"""`python report.py turns` from its words to its files."""

import argparse
import csv
from dataclasses import replace

import pytest
from tests.unit.report.ledgers import EPISODE, POLICY, rollout, trial, write_run
from tests.unit.report.measures.test_attempt import TURN

from toolorchestra.command.turns import add_arguments


def turns(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args([str(word) for word in words])
    return arguments.run(arguments)


def run_of(folder, *, max_turns, lengths, is_greedy=True):
    """One episode for each length: so many turns of 0.2 cents, then the answer, unless cut off."""
    trials = []
    for number, length in enumerate(lengths):
        taken = min(length, max_turns)
        ledger = [replace(POLICY, turn=turn) for turn in range(taken)]
        status = "answered" if length <= max_turns else "max_turns"
        made = trial("p", 0.002 * taken, rollout(*ledger, turns=(TURN,) * taken, status=status))
        solved = float(status == "answered")
        result = replace(made.result, episode=f"e{number}", is_solved=solved)
        trials.append(replace(made, result=result, episode=replace(EPISODE, id=f"e{number}")))
    write_run(folder, trials=trials)
    config = f"rollout: {{max_turns: {max_turns}}}\nbenchmark: {{is_greedy: {is_greedy}}}\n"
    (folder / "config.yaml").write_text(config)
    return folder


def rows(folder):
    with (folder / "turns.csv").open() as file:
        return [
            (int(r["turns allowed"]), float(r["accuracy"]), float(r["cents"]))
            for r in csv.DictReader(file)
        ]


def test_figures_derived_from_one_run_are_those_of_separate_runs(tmp_path, capsys):
    lengths = (1, 2, 4)
    whole = run_of(tmp_path / "whole", max_turns=50, lengths=lengths)
    assert turns(whole, "--limits", "2,1,4") == 0
    assert "(derived)" in capsys.readouterr().out
    parts = [run_of(tmp_path / str(n), max_turns=n, lengths=lengths) for n in (4, 1, 2)]
    assert turns(*parts, "--out", tmp_path / "out") == 0
    assert "(separate runs)" in capsys.readouterr().out
    # 1 of 3 within a turn, for 0.2 cents; 2 within two, for 1 + 2 + 2 turns; all within four
    expected = [(1, 1 / 3, 0.2), (2, 2 / 3, 0.2 * 5 / 3), (4, 1.0, 0.2 * 7 / 3)]
    for found in (rows(whole), rows(tmp_path / "out")):
        assert [row[0] for row in found] == [1, 2, 4]
        assert [row[1:] for row in found] == [pytest.approx(row[1:]) for row in expected]
    for name in ("turns.md", "turns.tex", "turns.png"):
        assert (whole / name).stat().st_size > 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["SAMPLED"], "was sampled (benchmark.is_greedy=false), so nothing is derived from it"),
        (["A", "A"], "both have rollout.max_turns=4; give one run for each limit"),
        (["A", "OTHER"], "share 2 of 2 and 3 episodes; use runs that differ in rollout.max_turns"),
        (["A", "--world", "x"], "--world: A has no world 'x'; it has local"),
        (["A", "OTHER", "--limits", "5"], "--limits: not allowed with several runs"),
        (["BARE"], "config.yaml does not exist; use the folder of a run of evaluate.py"),
    ],
)
def test_what_cannot_be_told_is_refused_with_one_sentence(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path / "A", max_turns=4, lengths=(1, 2))
    run_of(tmp_path / "OTHER", max_turns=9, lengths=(1, 2, 3))
    run_of(tmp_path / "SAMPLED", max_turns=4, lengths=(1,), is_greedy=False)
    (run_of(tmp_path / "BARE", max_turns=4, lengths=(1,)) / "config.yaml").unlink()
    with pytest.raises(ValueError) as caught:
        turns(*words)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_limit_that_is_no_number_of_turns_is_refused(tmp_path, capsys):
    for words in ("0,2", "x"):
        with pytest.raises(SystemExit):
            turns(tmp_path, "--limits", words)
        assert "--limits" in capsys.readouterr().err
