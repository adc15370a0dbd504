import asyncio
import weakref
from dataclasses import replace

import pytest
from tests.unit.engine.tiny_model import make_engine
from tests.unit.rollout.stage import FakeTool, engine_of, make_episode, speaker

from toolorchestra.engine.policies import call_text
from toolorchestra.judge.base import Judged
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.rollout.player import Stage
from toolorchestra.types import Verdict

EPISODES = [replace(make_episode(), id=f"episode-{i}") for i in range(2)]


def make_stage(tool, **changes):
    options = {"max_turns": 3, "max_concurrent": 4, "max_redispatch": 1}
    return Stage(
        tools={"ask": tool},
        speaker=speaker(),
        config=RolloutConfig(**(options | changes)),
        max_new_tokens=60,
        max_context=600,
    )


def test_a_stage_plays_groups_call_after_call_and_closes_its_tools():
    tool, done = FakeTool(), []
    stage = make_stage(tool)
    engine = engine_of(call_text("ask"), "answer: 4")
    for _ in range(2):
        groups = stage.play(engine, EPISODES, group_size=2, is_greedy=False, on_done=done.append)
        assert [r.status for group in groups for r in group.rollouts] == ["answered"] * 4
    assert len(done) == 8
    assert sorted(tool.closed) == sorted([f"episode-{i}/{j}" for i in (0, 1) for j in (0, 1)] * 2)
    stage.close()
    assert tool.closed[-1] == "all"


def test_greedy_play_makes_all_samples_alike_and_sampled_play_does_not():
    stage = make_stage(FakeTool())
    engine = make_engine(max_length=600)
    greedy, sampled = (
        stage.play(engine, EPISODES[:1], group_size=3, is_greedy=is_greedy)[0]
        for is_greedy in (True, False)
    )
    stage.close()
    assert len({r.turns[0].completion_ids for r in greedy.rollouts}) == 1
    assert len({r.turns[0].completion_ids for r in sampled.rollouts}) == 3


def test_limits_come_from_the_config():
    tool = FakeTool(pause_s=500.0)
    stage = make_stage(tool, tool_timeout_s=0.05, max_redispatch=1)
    (group,) = stage.play(engine_of(call_text("ask")), EPISODES[:1], group_size=1, is_greedy=True)
    stage.close()
    assert (group.rollouts[0].status, group.num_void) == ("void", 2)
    assert "within 0.05 s" in group.rollouts[0].fault


def test_tools_are_closed_though_a_bug_ended_the_play():
    tool = FakeTool(fault=KeyError("bug"))
    stage = make_stage(tool)
    with pytest.raises(KeyError, match="bug"):
        stage.play(engine_of(call_text("ask")), EPISODES, group_size=2, is_greedy=True)
    stage.close()
    assert tool.closed[-1] == "all"


class WrongJudge:
    """Finds every answer wrong."""

    is_closed = False

    async def judge(self, task, answer, *, turn):
        await asyncio.sleep(0)
        return Judged(verdict=Verdict(is_solved=False, decided_by="judge:wrong"))

    async def close(self):
        self.is_closed = True


def test_the_stages_judge_decides_and_is_closed_with_it():
    judge = WrongJudge()
    stage = Stage(
        tools={"ask": FakeTool()},
        speaker=speaker(),
        config=RolloutConfig(max_turns=3),
        max_new_tokens=60,
        max_context=600,
        judge=judge,
    )
    (group,) = stage.play(engine_of("answer: 4"), EPISODES[:1], group_size=1, is_greedy=True)
    assert group.verdicts == (Verdict(is_solved=False, decided_by="judge:wrong"),)
    stage.close()
    assert judge.is_closed


def test_each_episode_is_handed_over_as_it_ends_and_no_more_are_drawn_than_are_under_way():
    stage, drawn, handed = make_stage(FakeTool(), max_concurrent=2), [], []

    def episodes():
        for number in range(40):
            assert number - len(handed) <= 4  # two for each of max_concurrent
            drawn.append(number)
            yield replace(make_episode(), id=f"episode-{number}"), number % 3

    engine = engine_of(call_text("ask"), "answer: 4")
    stage.play_each(engine, episodes(), is_greedy=True, on_played=handed.append)
    stage.close()
    assert sorted(played.episode.id for played in handed) == sorted(
        f"episode-{number}" for number in drawn
    )
    assert {(p.episode.id, p.rollouts[0].sample) for p in handed} >= {
        ("episode-1", 1), ("episode-5", 2), ("episode-39", 0),
    }  # fmt: skip


class Big:
    """Stands for what was played."""


def test_what_was_handed_over_is_not_kept(monkeypatch):
    stage, handed = make_stage(FakeTool(), max_concurrent=2), []

    async def play_group(*args, **options):
        await asyncio.sleep(0)
        return Big()

    def take(played):
        handed.append(weakref.ref(played))
        del played
        assert sum(ref() is not None for ref in handed) == 1  # this one

    monkeypatch.setattr(stage, "play_group", play_group)
    stage.play_each(None, [(EPISODES[0], n) for n in range(40)], is_greedy=True, on_played=take)
    assert len(handed) == 40 and not any(ref() for ref in handed)
    stage.close()


def test_what_cannot_be_written_down_ends_the_play():
    stage = make_stage(FakeTool())

    def full(played):
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        stage.play_each(engine_of("answer: 4"), [(EPISODES[0], 0)], is_greedy=True, on_played=full)
    stage.close()
