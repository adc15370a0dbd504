from collections import Counter
from dataclasses import replace

import pytest
from tests.unit.tool.catalogue import shipped_tools

from toolorchestra.dataset.local import FAMILIES, local_task
from toolorchestra.reward.outcome import judge_answer
from toolorchestra.tool.base import CallContext
from toolorchestra.tool.config import Odds, ToolConfig
from toolorchestra.tool.simulated import SimulatedExpert, wrong_answer
from toolorchestra.toolset.offer import offer, typical_usage
from toolorchestra.types import Episode, Preference, Price, Task

PRICE = Price(usd_per_input_mtok=2.0, usd_per_output_mtok=8.0, source="test", date="2026-01-01")
TASK = Task(id="task-0", skill="math", question="What is 12 * 12?", answer="144")
EXPERT = ToolConfig(
    kind="llm",
    description="Expert.",
    priced_as="GPT-5",
    latency_s=30,
    overhead_tokens=120,
    output_tokens=2000,
    profile={"math": Odds(right=0.6, abstain=0.15), "logic": Odds(right=1.0)},
)


def make_episode(task=TASK, *, seed=0, names=("expert", "other", "third"), tool=EXPERT):
    return Episode(
        id=f"episode-{seed}",
        seed=seed,
        task=task,
        tools=tuple(
            offer(name, tool, question=task.question, price=PRICE, is_simulated=True)
            for name in names
        ),
        pricing="official",
        policy_priced_as=("policy",),
        policy_price=PRICE,
        preference=Preference(kind="test", instruction="", outcome=1.0, cost=0.0, latency=0.0),
        is_solvable=True,
    )


async def ask(episode, *, name="expert", number=0, session="a/0", config=EXPERT, arguments=None):
    context = CallContext(episode=episode, call_id="c1", call_number=number, session=session)
    return await SimulatedExpert(name, config).call(arguments or {}, context)


def outcome(result, task=TASK):
    if result.status == "abstained":
        return "abstain"
    return "right" if result.content == f"answer: {task.answer}" else "wrong"


async def test_frequencies_match_the_odds():
    seen = Counter([outcome(await ask(make_episode(seed=seed))) for seed in range(4000)])
    # three standard deviations of 4000 draws are at most 0.024
    for name, odds in {"right": 0.6, "abstain": 0.15, "wrong": 0.25}.items():
        assert seen[name] / 4000 == pytest.approx(odds, abs=0.024)


async def test_calls_of_one_tool_and_calls_of_two_are_independent():
    pairs = Counter()
    for seed in range(2000):
        episode = make_episode(seed=seed)
        first = outcome(await ask(episode)) == "right"
        pairs["again", first, outcome(await ask(episode, number=1)) == "right"] += 1
        pairs["other", first, outcome(await ask(episode, name="other")) == "right"] += 1
    for kind in ("again", "other"):
        assert pairs[kind, True, True] / 2000 == pytest.approx(0.36, abs=0.035)


async def test_a_certain_tool_is_always_right_and_an_absent_skill_always_abstains():
    sure = make_episode(replace(TASK, skill="logic"))
    none = make_episode(replace(TASK, skill="code"))
    for number in range(50):
        assert outcome(await ask(sure, number=number)) == "right"
        assert outcome(await ask(none, number=number)) == "abstain"


async def test_the_rollouts_of_a_group_meet_the_same_luck():
    for seed in range(30):
        episode = make_episode(seed=seed)
        group = [await ask(episode, number=2, session=f"a/{sample}") for sample in range(4)]
        assert group == [group[0]] * 4


async def test_luck_depends_on_seed_tool_and_call_number_alone():
    episode = make_episode(seed=5)
    renamed = replace(episode, id="episode-x", pricing="alt")
    first = [await ask(episode, number=number) for number in range(40)]
    # neither the order nor the number of earlier calls, nor another instance, changes anything
    backwards = [await ask(renamed, number=number) for number in reversed(range(40))]
    assert first == backwards[::-1]
    assert len({result.content for result in first}) > 2
    other_seed = [await ask(make_episode(seed=6), number=number) for number in range(40)]
    assert [r.status for r in first] != [r.status for r in other_seed]


@pytest.mark.parametrize("arguments", [{}, {"question": ""}, {"question": "Another one?"}])
async def test_whatever_is_asked_is_taken_to_be_the_task(arguments):
    episode = make_episode(seed=1)
    assert (await ask(episode, arguments=arguments)).content == (await ask(episode)).content


async def test_usage_is_what_the_offered_price_was_computed_from():
    for name, config in shipped_tools().items():
        if config.kind != "llm":
            continue
        episode = make_episode(names=(name,), tool=config)
        result = await ask(episode, name=name, config=config)
        assert replace(result.usage, is_estimated=True) == typical_usage(config, TASK.question)
        assert result.latency_s == episode.tools[0].latency_s
        assert (result.cost_usd, result.metadata) == (0.0, {"simulated": True})


async def test_time_that_is_billed_is_part_of_the_usage():
    config = replace(EXPERT, compute_s=2.5)
    assert (await ask(make_episode(), config=config)).usage.compute_s == 2.5


async def test_a_longer_question_takes_more_input_tokens():
    long = await ask(make_episode(), arguments={"question": "x" * 400})
    assert long.usage.input_tokens == 100 + EXPERT.overhead_tokens


NAMES = ("a", "b", "c", "d", "e", "f")


def wrong_answers(task, *, seed, calls=4):
    episode = make_episode(task, seed=seed, names=NAMES)
    return [wrong_answer(episode, name, number) for number in range(calls) for name in NAMES]


@pytest.mark.parametrize("skill", sorted(FAMILIES))
def test_no_wrong_answer_solves_a_task_or_agrees_with_another(skill):
    for index in range(40):
        task = local_task(index, seed=3, split="train", skills={skill: 1.0})
        assert judge_answer(task, f"answer: {task.answer}").is_solved is True
        answers = wrong_answers(task, seed=index)
        assert len({answer.casefold() for answer in answers}) == len(answers)
        for answer in answers:
            verdict = judge_answer(task, f"answer: {answer}")
            assert verdict.is_solved is False, (task.question, task.answer, answer, verdict)


@pytest.mark.parametrize(
    "answer, kind, metadata",
    [
        ("7", "number", {}),
        ("0", "number", {}),
        ("-3.0", "number", {}),
        ("0.5", "number", {}),
        ("1,000", "number", {}),
        ("12 km", "number", {}),
        ("3/4", "math", {}),
        ("50%", "number", {}),
        ("B", "choice", {"options": ["A", "B", "C", "D"]}),
        ("yes", "yes_no", {}),
        ("2024-01-05", "date", {}),
        ("5 January 2024", "date", {}),
        ("red, green", "list", {}),
        ("red, green", "set", {}),
        ("Zürich", "text", {"aliases": ["Zurich"]}),
        ("北京", "text", {}),
        ("U.S.", "text", {}),
        ("a", "text", {}),
    ],
)
def test_no_wrong_answer_of_any_kind_is_right(answer, kind, metadata):
    task = replace(TASK, answer=answer, answer_kind=kind, metadata=metadata)
    assert judge_answer(task, f"answer: {answer}").is_solved is True
    for seed in range(10):
        answers = wrong_answers(task, seed=seed)
        assert len({text.casefold() for text in answers}) == len(answers)
        for text in answers:
            assert judge_answer(task, f"answer: {text}").is_solved is False, text


def test_a_tool_never_repeats_a_wrong_answer_however_often_it_is_called():
    episode = make_episode(names=NAMES)
    answers = [wrong_answer(episode, "b", number) for number in range(60)]
    assert len(set(answers)) == 60


async def test_closing_needs_no_call_before():
    expert = SimulatedExpert("expert", EXPERT)
    await expert.close_session("a/0")
    await expert.close()
