"""`dataset=toolscale` and `benchmark=toolscale` from end to end."""

import json

import pytest
from tests.composed import composed, only, options_of
from tests.integration.hostile_domain import copy_hostile

from toolorchestra.arenas import build_arenas, build_tasks
from toolorchestra.build import build_speaker, build_stage
from toolorchestra.dataset.source import every_task
from toolorchestra.domain.goal import goal_of
from toolorchestra.domain.load import SHIPPED
from toolorchestra.engine.golden import Golden
from toolorchestra.engine.policies import nothing
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.evaluate import evaluate
from toolorchestra.model.policy import load_policy
from toolorchestra.report.trajectories import read_trajectories
from toolorchestra.run import train

GOLDEN = Golden()
SMALL = (
    "model=tiny_long",
    "toolset.min_tools=1",
    "toolset.max_tools=1",
    "trainer.max_steps=1",
    "trainer.episodes_per_step=1",
    "trainer.micro_batch_tokens=16384",
    "algorithm.group_size=2",
    "rollout.max_replacements=0",
    "logger=none",
)


def test_the_shipped_tiny_policy_trains_on_the_simplest_tasks_of_domains(tmp_path):
    run_dir = train(
        composed(
            "experiment=toolscale",
            f"dataset.domain.weights={only('library')}",  # the shorter prompts
            f"benchmark.dataset.domain.weights={only('library')}",
            *SMALL[1:],
            "benchmark.num_episodes=2",
            "rollout.max_turns=1",
            "model.max_new_tokens=16",
            output_dir=tmp_path / "run",
        )
    )
    groups = [item.group for item in read_trajectories(run_dir / "trajectories.jsonl")]
    assert len(groups) == 1
    for group in groups:
        assert group.episode.task.answer_kind == "domain"
        assert group.episode.task.metadata["difficulty"] == 1
        assert len(group.rollouts) == 2
        for rollout, score in zip(group.rollouts, group.scores, strict=True):
            assert rollout.turns, "the prompt leaves room for an answer"
            assert score.verdict.decided_by == "domain"
            assert score.verdict.reason, "nobody solves it by chance"
    results = [json.loads(line) for line in (run_dir / "results.jsonl").read_text().splitlines()]
    assert {result["policy"] for result in results} == {
        "start", "trained", "random", "ablest", "cheapest", "nothing", "golden",
    }  # fmt: skip
    assert {result["world"] for result in results} == {"toolscale"}


class Scripted(ScriptedEngine):
    """A scripted policy in the place of the policy that is trained, or evaluated."""

    is_resting = False

    async def load(self, model, version):
        self.version = version
        return {}

    async def rest(self):
        pass

    async def close(self):
        pass


class OneGolden(Scripted):
    """The first rollout of each group plays golden actions, the others do nothing."""

    async def generate(self, request):
        self._policy = GOLDEN if request.session.endswith("/0") else nothing
        return await super().generate(request)


def instead(monkeypatch, module, engine):
    """Has a command build an engine of this class."""

    def build(options, model, speaker, run_dir):
        end_id = speaker.renderer.end_of_turn_id
        return engine(nothing, speaker.tokenizer, end_id=end_id)

    monkeypatch.setattr(f"toolorchestra.{module}.build_engine", build)


@pytest.mark.slow
@pytest.mark.parametrize("domain", SHIPPED)
def test_golden_actions_earn_a_reward_of_1_in_training_and_idleness_none(
    tmp_path, monkeypatch, domain
):
    instead(monkeypatch, "run", OneGolden)
    run_dir = train(
        composed(
            "dataset=toolscale",
            f"dataset.domain.weights={only(domain)}",
            "benchmark=none",
            "reward=outcome_only",
            *SMALL,
            output_dir=tmp_path / "run",
        )
    )
    groups = [item.group for item in read_trajectories(run_dir / "trajectories.jsonl")]
    (group,) = groups
    assert group.episode.task.skill == domain
    assert [score.reward for score in group.scores] == [1.0, 0.0]
    assert [rollout.status for rollout in group.rollouts] == ["answered"] * 2


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    """The folder of an evaluation of six held-out tasks; the run's own dataset is another."""
    run_dir = tmp_path_factory.mktemp("evaluation") / "run"
    with pytest.MonkeyPatch.context() as patch:
        instead(patch, "evaluate", Scripted)
        evaluate(
            composed(
                "benchmark=toolscale",
                "benchmark.num_episodes=6",
                "model=tiny_long",
                output_dir=run_dir,
                command="evaluate",
            )
        )
    return run_dir


def test_an_evaluation_tells_accuracy_by_domain_and_difficulty_between_the_bars(evaluation):
    lines = [json.loads(line) for line in (evaluation / "results.jsonl").read_text().splitlines()]
    solved = {
        policy: [line["is_solved"] for line in lines if line["policy"] == policy]
        for policy in ("policy", "nothing", "golden")
    }
    assert solved == {"policy": [0.0] * 6, "nothing": [0.0] * 6, "golden": [1.0] * 6}
    assert {line["world"] for line in lines} == {"toolscale"}
    assert all(1 <= line["difficulty"] <= 5 for line in lines)
    text = (evaluation / "results.md").read_text()
    assert "**toolscale world: 6 held-out episodes**" in text
    assert "**toolscale world: accuracy by domain**" in text
    assert "**toolscale world: accuracy by difficulty**" in text
    summary = json.loads((evaluation / "summary.json").read_text())
    low, high = (summary["metrics"]["toolscale accuracy"][end] for end in ("low", "high"))
    assert low <= 0.0 <= high
    assert "oracle" not in text


def test_golden_actions_solve_every_held_out_task_each_of_which_is_played_once():
    config = options_of("benchmark=toolscale", "dataset=local", *SMALL)
    _, tokenizer = load_policy(config.model)
    speaker = build_speaker(config.model, tokenizer)
    tasks = build_tasks(config, config.heldout)
    (arena,) = build_arenas(config, tasks)
    asked = [episode.task.id for episode in arena.episodes]
    assert len(set(asked)) == len(asked) == len(every_task(tasks, "heldout"))
    stage = build_stage(config, speaker)
    end_id = speaker.renderer.end_of_turn_id
    try:
        for policy, wanted in ((GOLDEN, True), (nothing, False)):
            engine = ScriptedEngine(policy, speaker.tokenizer, end_id=end_id)
            played = stage.play(engine, arena.episodes, group_size=1, is_greedy=True)
            for item in played:
                told = f"{item.episode.task.id}: {item.rollouts[0].status}, {item.verdicts[0]}"
                assert item.verdicts[0].is_solved is wanted, told
    finally:
        stage.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["model=tiny"], "model.max_context: 640 is not allowed, as the prompt of a task of"),
        (["model=tiny_long", "benchmark.dataset=null"], "benchmark.num_episodes: null is not"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_in_one_sentence(tmp_path, words, said):
    with pytest.raises(ValueError, match=said) as caught:
        evaluate(
            composed("benchmark=toolscale", *words, output_dir=tmp_path / "run", command="evaluate")
        )
    assert "\n" not in str(caught.value) and "; use " in str(caught.value)


def test_a_training_whose_prompts_do_not_fit_is_refused_before_anything_is_played(tmp_path):
    with pytest.raises(ValueError, match="model.max_context: 640 is not allowed"):
        train(composed("dataset=toolscale", "logger=none", output_dir=tmp_path / "run"))
    assert list(read_trajectories(tmp_path / "run" / "trajectories.jsonl")) == []


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
