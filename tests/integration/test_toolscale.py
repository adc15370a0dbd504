"""`dataset=toolscale` from end to end."""

import json

from tests.composed import composed

from toolorchestra.run import train


def test_the_tiny_policy_trains_on_the_simplest_tasks_of_domains(tmp_path):
    run_dir = train(
        composed(
            "dataset=toolscale",
            "dataset.domain.difficulties=[1]",
            "model.max_context=6144",
            "toolset.min_tools=1",
            "toolset.max_tools=1",
            "preference=none",
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
    lines = (run_dir / "trajectories.jsonl").read_text().splitlines()
    groups = [json.loads(line) for line in lines]
    assert len(groups) >= 2
    text = "\n".join(lines)
    assert '"decided_by": "domain"' in text or '"decided_by":"domain"' in text
    assert "context_full" not in text
