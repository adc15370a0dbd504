"""What is kept of a run says the same as the run, in less room."""

import json
from dataclasses import replace

import pytest
from tests.unit.report.ledgers import EPISODE, rollout

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result, Trial
from toolorchestra.codec import to_json
from toolorchestra.experiment.extract import extract, read_extract, write_extract
from toolorchestra.report.records import TrialRecords
from toolorchestra.report.trajectories import EVALUATION_FILE


def result(policy, episode="e", **changes):
    fields = {
        "policy": policy,
        "world": "local",
        "episode": episode,
        "skill": "math",
        "preference": "frugal",
        "utility": 1.0 / 3,
        "is_solved": 1.0,
        "cost_usd": 0.04,
        "latency_s": 30.0,
        "tool_counts": {"big": 2, "small": 0},
        "num_calls": 3,
        "num_malformed": 1,
        "status": "answered",
    }
    return Result(**(fields | changes))


def write_finished(run_dir, **changes):
    """A run of one policy on two episodes, the second of them void, and the oracle's bound."""
    void = {"utility": None, "is_solved": None, "cost_usd": None, "latency_s": None}
    played = [result("policy", **changes), result("policy", "f", **void, tool_counts={})]
    run_dir.mkdir()
    records = TrialRecords(run_dir / EVALUATION_FILE, hashes={}, default_hash="d")
    for one in played:
        episode = replace(EPISODE, id=one.episode)
        records.write(Trial(result=one, episode=episode, rollout=rollout()))
    lines = [*played, result(ORACLE_BOUND, is_solved=0.75, tool_counts={})]
    text = "".join(json.dumps(to_json(line)) + "\n" for line in lines)
    (run_dir / "results.jsonl").write_text(text)
    command = "/somewhere/evaluate.py seed=1"
    record = {"command": command, "git_commit": "abc", "is_git_dirty": False}
    (run_dir / "run.json").write_text(json.dumps(record))
    summary = {"config": {"model": "tiny", "seed": 1}, "metrics": {"seconds": 7.0}}
    (run_dir / "summary.json").write_text(json.dumps(summary))
    return run_dir


def test_every_result_is_kept_and_reads_back(tmp_path):
    kept = extract(write_finished(tmp_path / "run"), key="k")
    assert kept.command == "evaluate.py seed=1"
    assert kept.choices == {"model": "tiny", "seed": "1"} and kept.is_simulated
    own = kept.worlds["local"].policies["policy"]
    assert (own.episode, own.cents, own.utility) == ((0, 1), (4.0, None), (0.333333, None))
    assert own.calls == {"big": (2, 1), "small": (0, 1)} and own.relative == ()
    assert kept.worlds["local"].policies[ORACLE_BOUND].is_solved == (0.75,)
    path = tmp_path / "kept.json"
    write_extract(path, kept)
    assert read_extract(path) == kept
    assert '     "cents": [4.0, null],\n' in path.read_text()


def test_the_starting_policy_is_what_the_papers_measure_compares_with(tmp_path):
    # P = outcome 1, cost 1: 1 / max(1, 1) + 8 cents / max(1, 4 cents) = 3; the second was void
    start = write_finished(tmp_path / "start", cost_usd=0.08)
    kept = extract(write_finished(tmp_path / "run"), key="k", start_dir=start)
    assert kept.worlds["local"].policies["policy"].relative == (3.0, None)
    assert kept.worlds["local"].policies[ORACLE_BOUND].relative == ()


def test_a_start_with_other_tools_is_refused(tmp_path):
    start = write_finished(tmp_path / "start", tool_counts={"big": 1})
    with pytest.raises(ValueError, match=r"the run played other episodes \(e\)"):
        extract(write_finished(tmp_path / "run"), key="k", start_dir=start)


def test_a_run_that_is_not_finished_and_a_damaged_file_are_named(tmp_path):
    run = write_finished(tmp_path / "run")
    (run / "summary.json").unlink()
    with pytest.raises(ValueError, match="the run has not finished"):
        extract(run, key="k")
    path = tmp_path / "kept.json"
    path.write_text("{")
    with pytest.raises(ValueError, match=r"kept\.json: .*; remove it"):
        read_extract(path)
