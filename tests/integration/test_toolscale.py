"""`dataset=toolscale` from end to end."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

from tests.composed import composed

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
