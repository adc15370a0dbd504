"""`dataset=toolscale` from end to end."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from tests.composed import composed
from tests.integration.hostile_domain import copy_hostile

from toolorchestra.domain.goal import goal_of
from toolorchestra.report.trajectories import read_trajectories
from toolorchestra.run import train


def roomy_policy(folder: Path) -> Path:
    """The tiny policy with room for a domain's functions, which take more than its 4,096 tokens."""
    shutil.copytree(str(files("toolorchestra.model").joinpath("tiny")), folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 10_240}))
    return folder


def test_the_tiny_policy_trains_on_the_simplest_tasks_of_domains(tmp_path):
    run_dir = train(
        composed(
            "dataset=toolscale",
            "dataset.domain.difficulties=[1]",
            f"model.path={roomy_policy(tmp_path / 'policy')}",
            "model.max_context=10000",
            "toolset.min_tools=1",
            "toolset.max_tools=1",
            "benchmark.transfer=null",
            "benchmark.num_episodes=2",
            "trainer.max_steps=2",
            "trainer.episodes_per_step=1",
            "algorithm.group_size=2",
            "rollout.max_turns=2",
            "rollout.max_replacements=0",
            output_dir=tmp_path / "run",
        )
    )
    groups = [item.group for item in read_trajectories(run_dir / "trajectories.jsonl")]
    assert len(groups) == 2
    for group in groups:
        assert group.episode.task.answer_kind == "domain"
        assert len(group.rollouts) == 2
        for rollout, score in zip(group.rollouts, group.scores, strict=True):
            assert rollout.turns, "the prompt leaves room for an answer"
            assert score.verdict.decided_by == "domain"
            assert score.verdict.reason, "nobody solves it by chance"
    results = (run_dir / "results.jsonl").read_text().splitlines()
    policies = {json.loads(line)["policy"] for line in results}
    assert policies == {"start", "trained", "random", "ablest", "cheapest", "golden"}


@pytest.mark.sandbox
def test_a_domain_of_a_folder_is_trained_on_as_a_shipped_one_is(tmp_path):
    folder = copy_hostile(tmp_path)
    line = (folder / "tasks.jsonl").read_text()
    lines = [line.replace('"pay"', f'"pay{n}"', 1).replace("Pay", f"{n}. Pay") for n in range(8)]
    (folder / "tasks.jsonl").write_text("".join(lines))
    run_dir = train(
        composed(
            "dataset=toolscale",
            f"+dataset.domain.folders.bank={folder}",
            "+dataset.domain.sandbox.timeout_s=4",
            "dataset.domain.weights.library=0",
            "dataset.domain.weights.clinic=0",
            "dataset.domain.weights.courier=0",
            "toolset.min_tools=1",
            "toolset.max_tools=1",
            "benchmark.transfer=null",
            "benchmark.num_episodes=2",
            "trainer.max_steps=1",
            "trainer.episodes_per_step=1",
            "algorithm.group_size=2",
            "rollout.max_turns=2",
            "rollout.max_replacements=0",
            output_dir=tmp_path / "run",
        )
    )
    (group,) = [item.group for item in read_trajectories(run_dir / "trajectories.jsonl")]
    assert [tool.name for tool in group.episode.tools][1:] == ["pay", "attempt"]
    goal = goal_of(group.episode.task)
    assert (goal.domain.name, goal.domain.origin.folder) == ("bank", str(folder))
    for score in group.scores:
        assert score.verdict.decided_by == "domain"
        assert "A1.balance: expected 110, got 100" in score.verdict.reason
