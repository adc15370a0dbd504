"""`python evaluate.py` from end to end: its files, that it measures as training does, faults."""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.composed import composed
from tests.integration.command import ROOT, Command, run_dirs
from tests.unit.test_conf import HEAVY

from toolorchestra.build import build_speaker
from toolorchestra.codec import to_json
from toolorchestra.command import compare
from toolorchestra.evaluate import evaluate
from toolorchestra.finish import keep_policy
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.policy import load_policy
from toolorchestra.report.trajectories import EVALUATION_FILE, read_trials

QUICK = ("num_threads=1", "benchmark.num_episodes=6")
MODEL = ModelConfig(max_context=640, max_new_tokens=16, is_thinking=True)
"""As conf/model/tiny.yaml has it."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny policy as a run would leave it behind."""
    run_dir = tmp_path_factory.mktemp("run")
    (run_dir / "config.yaml").write_text("seed: 1\noutput_dir: /private\nmodel:\n  name: tiny\n")
    (run_dir / "results.md").write_text("**seen world: 12 held-out episodes**\n")
    options = composed(output_dir=run_dir)
    options.model = MODEL
    model, tokenizer = load_policy(MODEL)
    return keep_policy(run_dir, options, model, build_speaker(MODEL, tokenizer))


@pytest.fixture(scope="module")
def evaluation(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an evaluation of that policy."""
    folder = tmp_path_factory.mktemp("evaluation")
    done = Command(folder, *QUICK, f"model.path={kept}", script="evaluate.py").wait()
    assert done.status == 0 and done.err == "", done.err
    for told in ("local world: 6 held-out episodes", "│ policy ", "│ oracle bound ", "done in "):
        assert told in done.out
    (run_dir,) = run_dirs(folder)
    return run_dir


def results_of(run_dir: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run_dir / "results.jsonl").read_text().splitlines()]


def test_a_kept_policy_says_how_it_was_made_and_how_it_scored(kept):
    card = (kept / "README.md").read_text()
    assert "**seen world: 12 held-out episodes**" in card
    assert "```yaml\nseed: 1\nmodel:\n  name: tiny\n```" in card
    assert "/private" not in card


def test_an_evaluation_leaves_tables_pictures_and_a_summary(evaluation):
    assert {path.name for path in evaluation.iterdir()} == {
        "accuracy_over_cost.png", "call_shares.png", "config.yaml", "evaluation_trajectories.jsonl",
        "frontier.json",
        "results", "results.json", "results.jsonl", "results.md", "run.json", "summary.json",
    }  # fmt: skip
    results = results_of(evaluation)
    assert {result["world"] for result in results} == {"local"}
    assert list(dict.fromkeys(result["policy"] for result in results)) == [
        "policy", "random", "ablest", "cheapest", "greedy", "oracle", "oracle bound",
    ]  # fmt: skip
    text = (evaluation / "results.md").read_text()
    assert "utility: policy - ablest" in text and "simulated experts (sim/)" in text
    for title in (
        "share of all calls",
        "how trials ended",
        "what a trial takes",
        'against "random"',
    ):
        assert title in text
    summary = json.loads((evaluation / "summary.json").read_text())
    assert summary["metrics"].keys() == {
        "seconds", "local utility", "local accuracy", "local cents",
    }  # fmt: skip
    assert summary["config"]["policy"].endswith("/model")
    assert "algorithm" not in summary["config"]


def test_policies_of_an_evaluation_are_compared_by_episode(evaluation, tmp_path):
    parser = argparse.ArgumentParser()
    compare.add_arguments(parser)
    run_dir = str(evaluation)
    words = [run_dir, run_dir, "--policy", "oracle", "--against", "random", "--out", str(tmp_path)]
    arguments = parser.parse_args(words)
    assert arguments.run(arguments) == 0
    with (tmp_path / "compare.csv").open(newline="") as file:
        accuracy, *others = csv.DictReader(file)
    shares = {
        policy: [line["is_solved"] for line in results_of(evaluation) if line["policy"] == policy]
        for policy in ("oracle", "random")
    }
    assert float(accuracy["A"]) == pytest.approx(sum(shares["oracle"]) / 6)
    assert float(accuracy["B"]) == pytest.approx(sum(shares["random"]) / 6)
    assert accuracy["test"] == "McNemar, exact" and len(others) == 3


def test_every_rollout_of_an_evaluation_can_be_read_and_repriced(evaluation, tmp_path):
    trials = list(read_trials(evaluation / EVALUATION_FILE))
    wanted = [line for line in results_of(evaluation) if line["policy"] != "oracle bound"]
    assert [to_json(trial.result) for trial in trials] == wanted
    words = ("reprice", str(evaluation), "pricing=alt", f"out={tmp_path}")
    done = subprocess.run(
        [sys.executable, "report.py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "largest difference 0 USD" in done.stdout and "re-pricing" in done.stdout
    with (tmp_path / "reprice.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["for"] == "all"]
    for row in rows:
        costs = [line["cost_usd"] for line in wanted if line["policy"] == row["policy"]]
        assert float(row["billed_cents"]) == pytest.approx(100 * sum(costs) / 6)
    assert len(rows) == 6


def test_an_evaluation_cut_anywhere_goes_on_in_its_folder_to_the_same_records(
    evaluation, kept, tmp_path
):
    folder = tmp_path / "cut"
    folder.mkdir()
    for name in ("config.yaml", "run.json"):
        shutil.copy(evaluation / name, folder)
    lines = (evaluation / EVALUATION_FILE).read_bytes().splitlines(keepends=True)
    (folder / EVALUATION_FILE).write_bytes(b"".join(lines[3:20]) + lines[20][:500])
    evaluate(composed(*QUICK, f"model.path={kept}", output_dir=folder, command="evaluate"))
    again = (folder / EVALUATION_FILE).read_bytes().splitlines(keepends=True)
    assert again[3:20] == lines[3:20]  # not played again: not even the time differs
    assert results_of(folder) == results_of(evaluation)


def test_a_folder_of_another_config_is_refused_with_the_first_key_that_differs(evaluation, kept):
    words = (*QUICK, f"model.path={kept}", "benchmark.num_trials=2")
    before = (evaluation / EVALUATION_FILE).read_bytes()
    with pytest.raises(ValueError, match=r"\(benchmark.num_trials was 1 and is 2\)"):
        evaluate(composed(*words, output_dir=evaluation, command="evaluate"))
    assert (evaluation / EVALUATION_FILE).read_bytes() == before


def test_a_policy_scores_as_in_the_evaluation_that_ends_training(evaluation, tmp_path):
    overrides = ("trainer.max_steps=0", "trainer.num_threads=1", "benchmark.transfer=null")
    command = Command(tmp_path, *overrides, "benchmark.num_episodes=6", "logger=none")
    assert command.wait().status == 0
    (run_dir,) = run_dirs(tmp_path)
    whole = {(r["policy"], r["episode"]): r for r in results_of(run_dir)}
    for result in results_of(evaluation):
        policy = "start" if result["policy"] == "policy" else result["policy"]
        then = whole[policy, result["episode"]]
        assert result | {"policy": policy, "world": "seen"} == then


def test_a_sweep_over_toolsets_and_prices_ends_with_one_table(tmp_path):
    few = ("num_threads=1", "benchmark.num_episodes=2")
    done = Command(
        tmp_path, *few, "toolset=local,unseen", "pricing=alt", "-m", script="evaluate.py"
    ).wait()
    assert done.status == 0, done.err
    (folder,) = (tmp_path / "sweeps").iterdir()
    table = (folder / "comparison.md").read_text()
    assert "| run | toolset | seconds | local utility |" in table
    assert "| 1 | unseen |" in table and "pricing=alt" in table


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.path=/no/such/model"], "model.path: cannot load '/no/such/model' (there is no"),
        (["benchmark.num_episodes=0"], "benchmark.num_episodes: 0 is not allowed; use at least 2"),
        (["num_threads=-1"], "num_threads: -1 is not allowed; use a whole number from 0"),
        (["toolset=unseen", "pricing=alt", "pricing.missing=refuse"], "pricing"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_with_one_sentence(tmp_path, overrides, message):
    with pytest.raises(ValueError) as caught:
        evaluate(composed(*QUICK, *overrides, output_dir=tmp_path / "run", command="evaluate"))
    told = str(caught.value)
    assert message in told and "\n" not in told
    assert not (tmp_path / "run" / "summary.json").exists()


def test_what_is_likely_to_be_paid_is_told_and_refused_where_nobody_agrees(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    words = (*QUICK, "judge=llm", "judge.cache=null", "confirm_above_usd=0.1")
    # six policies on six tasks, at $0.00574 a verdict
    told = r"about \$0.21 are .*, more than \$0.10, and nobody can be asked here; use yes=true"
    with caplog.at_level("INFO"), pytest.raises(ValueError, match=told):
        evaluate(composed(*words, output_dir=tmp_path / "run", command="evaluate"))
    assert "likely to be paid: $0.21 for judge GPT-5: 36 answers × $0.00574" in caplog.text
    assert not (tmp_path / "run" / EVALUATION_FILE).exists()


def test_the_command_refuses_options_of_training_with_one_sentence(tmp_path):
    done = Command(tmp_path, "trainer.max_steps=3", script="evaluate.py").wait()
    assert done.status == 1
    (told,) = done.err.strip().splitlines()
    assert told.startswith("error: Could not override 'trainer.max_steps'")
    assert "--cfg job shows every key" in told


def test_ctrl_c_ends_with_one_sentence_and_no_results(tmp_path):
    done = Command(
        tmp_path,
        *QUICK,
        interrupt_at="toolorchestra.rollout.player:run_rollout",
        script="evaluate.py",
    ).wait()
    assert done.status == 130
    assert done.err.strip().splitlines()[-1] == (
        "interrupted: the same command with resume=auto goes on from what is recorded"
    )
    (run_dir,) = run_dirs(tmp_path)
    assert {path.name for path in run_dir.iterdir()} <= {"config.yaml", "run.json", "error.txt"}


def test_the_command_line_shows_a_config_without_loading_anything_heavy(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "evaluate.py", "--cfg", "job", "pricing=alt"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert "num_threads: 0" in done.stdout and "transfer: null" in done.stdout
    assert "algorithm:" not in done.stdout
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "hydra" in loaded and loaded.isdisjoint(HEAVY)
