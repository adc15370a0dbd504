"""`python train.py` from end to end: a run's files, a sweep's table, an episode replayed."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.composed import options_of
from tests.integration.command import ROOT, Command

from toolorchestra.build import build_speaker, build_tools
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.model.policy import load_policy
from toolorchestra.report.trajectories import read_trajectories
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.domain import Environments

QUICK = (
    "trainer.max_steps=1",
    "trainer.episodes_per_step=2",
    "trainer.num_threads=1",
    "benchmark=none",
)
METRICS = {
    "reward/mean", "reward/outcome", "reward/cost", "reward/latency", "reward/tools", "accuracy",
    "utility", "cost_cents", "latency_s", "calls/gpt_5", "calls/malformed_share",
    "drops/num_rollouts", "drops/num_dropped", "drops/num_void", "drops/num_unscored",
    "update/entropy", "update/loss", "update/grad_norm", "update/learning_rate", "tokens/sampled",
    "tokens/trained", "time/rollout_s", "time/score_s", "time/update_s",
}  # fmt: skip


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a smoke run, made by the command as a user types it."""
    folder = tmp_path_factory.mktemp("smoke") / "run"
    start_s = time.monotonic()
    done = subprocess.run(
        [sys.executable, "train.py", "experiment=smoke", f"hydra.run.dir={folder}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    print(f"smoke took {time.monotonic() - start_s:.0f} s")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "trained" in done.stdout and "oracle" in done.stdout
    return folder


def test_a_smoke_run_leaves_every_file_that_the_readme_names(smoke):
    assert {path.name for path in smoke.iterdir()} == {
        "accuracy_over_cost.png", "call_shares.png", "frontier.json", "checkpoints", "config.yaml",
        "evaluation_trajectories.jsonl", "metrics.csv", "model", "results", "results.json",
        "results.jsonl", "results.md", "reward_curve.png", "run.json", "summary.json",
        "trajectories.jsonl", "wandb",
    }  # fmt: skip
    assert (smoke / "accuracy_over_cost.png").read_bytes().startswith(b"\x89PNG")
    assert (smoke / "reward_curve.png").read_bytes().startswith(b"\x89PNG")
    assert (smoke / "checkpoints/step_000003/record.json").exists()
    assert json.loads((smoke / "run.json").read_text()).keys() >= {"config_digest", "git_commit"}
    assert "name: smoke" in (smoke / "config.yaml").read_text()
    assert "${" not in (smoke / "config.yaml").read_text(), "interpolations are resolved"


def test_a_smoke_run_records_every_metric(smoke):
    with (smoke / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    assert METRICS - rows[0].keys() == set()
    assert any("logprob" in name or "gap" in name for name in rows[0]), "log-probability gap"
    assert sum(name.startswith("drops/") for name in rows[0]) >= 6, "one column a filter"
    assert sum(name.startswith("calls/") for name in rows[0]) == 12, "eleven tools and the share"


def test_a_smoke_runs_results_show_every_policy_and_say_what_is_simulated(smoke):
    text = (smoke / "results.md").read_text()
    assert "simulated experts (sim/)" in text and "sim/" in text
    tables = json.loads((smoke / "results.json").read_text())
    assert len(list((smoke / "results").glob("*.csv"))) == len(tables)
    results = [json.loads(line) for line in (smoke / "results.jsonl").read_text().splitlines()]
    policies = {result["policy"] for result in results}
    assert policies >= {"start", "trained", "oracle bound"} and len(policies) >= 7
    assert {result["world"] for result in results} == {"seen", "transfer"}
    assert len(results) == len(policies) * (24 + 16)
    figures = json.loads((smoke / "summary.json").read_text())["metrics"]
    assert figures.keys() >= {"seconds", "seen utility", "transfer accuracy", "seen closed"}


def test_an_episode_of_a_trajectory_file_can_be_replayed(smoke):
    # The engine repeats the messages that were sampled; luck hangs on the episode, so that tools
    # answer, cost and take as long as they did then.
    options = options_of("experiment=smoke")
    groups = [item.group for item in read_trajectories(smoke / "trajectories.jsonl")][:4]
    said = {(g.episode.id, r.sample): r for g in groups for r in g.rollouts}
    _, tokenizer = load_policy(options.model)
    speaker = build_speaker(options.model, tokenizer)
    stage = Stage(
        tools=build_tools(options, Environments()),
        speaker=speaker,
        config=options.rollout,
        max_new_tokens=options.model.max_context,
        max_context=2 * options.model.max_context,
    )
    try:
        for (episode_id, sample), then in said.items():
            if then.status != "answered":
                continue
            (episode,) = {
                g.episode.id: g.episode for g in groups if g.episode.id == episode_id
            }.values()  # noqa: E501
            engine = ScriptedEngine(
                lambda _, turns, __, r=then: r.turns[len(turns)].text,
                tokenizer,
                end_id=speaker.renderer.end_of_turn_id,
            )
            (played,) = stage.play(engine, [episode], group_size=1, is_greedy=True)
            now = played.rollouts[0]
            assert now.answer == then.answer, sample
            assert [tools_of(turn) for turn in now.turns] == [tools_of(turn) for turn in then.turns]
            ledgers = ([e for e in r.ledger if e.kind == "tool"] for r in (now, then))
            assert len(set(map(tuple, ledgers))) == 1
    finally:
        stage.close()


def tools_of(turn):
    """What the tools of a turn gave back, but for the calls' ids."""
    return [(r.name, r.content, r.status, r.cost_usd, r.latency_s) for r in turn.results]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory):
    """A sweep over toolsets and prices: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("sweep")
    overrides = ("toolset=local,unseen", "pricing=official,alt", "experiment.name=grid", "-m")
    done = Command(folder, *QUICK, *overrides).wait()
    assert done.status == 0, done.err
    return next((folder / "sweeps").iterdir()), done


def test_a_sweep_makes_one_finished_folder_a_point_and_one_table(sweep):
    folder, done = sweep
    points = [folder / str(number) for number in range(4)]
    assert all((point / "summary.json").exists() for point in points)
    chosen = [json.loads((p / "summary.json").read_text())["config"] for p in points]
    assert [(c["toolset"], c["pricing"]) for c in chosen] == [
        ("local", "official"), ("local", "alt"), ("unseen", "official"), ("unseen", "alt")
    ]  # fmt: skip
    assert "Comparison of 4 runs" in done.out
    text = (folder / "comparison.md").read_text()
    assert "| 3 | unseen | alt |" in text and "experiment=grid" in text


def test_the_points_of_a_sweep_are_one_group_of_separate_tracked_runs(sweep):
    folder, _ = sweep
    logs = sorted(folder.glob("*/wandb/offline-run-*/run-*.wandb"))
    assert len(logs) == 4 and len({log.name for log in logs}) == 4
    assert all(b"grid" in log.read_bytes() for log in logs)


def test_a_point_that_fails_is_named_and_the_others_finish(tmp_path):
    # max_new_tokens beyond the context is refused when the point starts, not when it is composed
    overrides = ("model.max_new_tokens=2000,64", "logger=none", "-m")
    done = Command(tmp_path, *QUICK, *overrides).wait()
    assert done.status == 1
    assert "error: 1 of 2 points did not finish:\n  point 0 (" in done.err
    assert "model.max_new_tokens: 2000 is not allowed" in done.err
    assert "Comparison of 1" in done.out
    (folder,) = (tmp_path / "sweeps").iterdir()
    assert (folder / "1" / "summary.json").exists() and not (folder / "0").exists()
