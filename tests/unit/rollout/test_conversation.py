"""Rollouts in which the policy speaks with a user, from what is shown first to the verdict."""

import asyncio
from dataclasses import replace

import pytest
from tests.unit.rollout.conversations import (
    GOLDEN,
    PULL,
    SLIP,
    golden_engine,
    play,
    read,
    staged,
)
from tests.unit.rollout.stage import engine_of
from tests.unit.user.scene import (
    LATENCY_S,
    RELEASE,
    called,
    install,
    locker_episode,
)

from toolorchestra.reward.measures import measure
from toolorchestra.types import LedgerEntry, Usage, UserMessage
from toolorchestra.user.nobody import NOBODY
from toolorchestra.user.protocol import Opening, UserReply
from toolorchestra.user.scripted import LEAVES


@pytest.fixture(autouse=True)
def locker(monkeypatch):
    return install(monkeypatch)


def test_golden_messages_solve_a_task_that_takes_both():
    played, _ = staged(engine_of(*GOLDEN), locker_episode(), group_size=3)
    for rollout, verdict in zip(played.rollouts, played.verdicts, strict=True):
        assert (rollout.status, rollout.answer) == ("answered", "You are welcome.")
        assert (verdict.is_solved, verdict.reason, verdict.decided_by) == (True, "", "domain")
        measures = measure(rollout, played.episode, verdict)
        assert (measures.outcome, measures.latency_s) == (1.0, LATENCY_S)
        assert measures.tool_counts == {"get_locker": 0, "release": 1}
        assert {entry.kind for entry in rollout.ledger} == {"policy", "tool"}
    assert played.episode.task.question == "My parcel is stuck in locker L1."


@pytest.mark.parametrize("task", ["stuck", "state", "plain"])
def test_the_golden_policy_solves_every_task_with_a_user(task):
    played, _ = staged(golden_engine(), locker_episode(task))
    assert played.verdicts[0].reason == ""
    assert played.verdicts[0].is_solved is True


def test_what_the_user_has_to_do_is_not_done_unless_it_is_asked_for():
    for texts, reason in (
        ((SLIP, RELEASE, "Your code is 52.", "Bye.", "Bye.", "Bye."), "L1.is_open"),
        ((RELEASE, "Your code is 52, please pull.", SLIP, "pull", "Bye."), None),
        ((RELEASE, "The code is 52.", "Hm.", "Hm."), "L1.is_open"),
        ((SLIP, PULL, "Bye."), "L1.is_released"),
        ((SLIP, RELEASE, "Please open it.", "Bye."), "not said: 52"),
    ):
        played, _ = staged(engine_of(*texts), locker_episode())
        assert played.verdicts[0].is_solved is (reason is None), texts
        assert (reason or "") in played.verdicts[0].reason


def test_without_a_user_a_task_that_takes_both_cannot_be_solved():
    played, _ = staged(golden_engine(), locker_episode(), user=lambda environments: NOBODY)
    assert played.rollouts[0].turns[0].user is None
    assert played.verdicts[0].is_solved is False
    assert "L1.is_open" in played.verdicts[0].reason
    assert played.episode.task.question.startswith("My parcel is stuck in locker L1: release it")


def test_what_was_said_earlier_counts_and_what_was_thought_or_called_does_not():
    def verdict(*texts):
        return staged(engine_of(*texts), locker_episode())[0].verdicts[0]

    assert verdict(SLIP, RELEASE, PULL, "").is_solved is True
    thought = "<think>\nThe code is 52.\n</think>\n\nPlease open it."
    assert verdict(SLIP, RELEASE, thought, "Bye.").reason == "not said: 52"
    beside = f"The code is 52.\n{RELEASE}"  # the user never reads what stands beside calls
    assert verdict(SLIP, beside, "Please open it.", "Bye.").reason == "not said: 52"


def test_a_conversation_that_is_not_ended_has_no_answer():
    played, _ = staged(
        engine_of(SLIP, RELEASE, PULL, called("get_locker", locker_id="L1")), locker_episode()
    )
    assert (played.rollouts[0].status, played.rollouts[0].answer) == ("max_turns", None)
    assert played.verdicts[0].reason == "no answer was given"


async def test_the_policy_reads_the_opening_alone_and_then_what_the_user_says():
    rollout = await play(*GOLDEN)
    (text,) = read(rollout)
    assert "<|im_start|>user\nMy parcel is stuck in locker L1.<|im_end|>" in text
    assert "the door I can pull" not in text
    assert "<|im_start|>user\nOn the slip I read 4711.<|im_end|>\n<|im_start|>assistant" in text
    assert text.count("<|im_start|>user\n") == 4  # of them one with a result
    assert [turn.user.text if turn.user else None for turn in rollout.turns] == [
        "On the slip I read 4711.",
        None,
        "I see: the door is open.",
        "",
    ]
    assert [turn.user.is_last for turn in rollout.turns if turn.user] == [False, False, True]


async def test_a_user_that_was_not_understood_leaves_with_the_last_message_as_the_answer():
    rollout = await play("Hm.", "What?", "Oh.")
    assert (rollout.status, rollout.answer) == ("answered", "Oh.")
    assert [turn.user.text == LEAVES for turn in rollout.turns] == [False, False, True]


class Hanging:
    """A user that never answers."""

    async def opened(self, episode):
        return Opening(episode=episode)

    async def reply(self, episode, turns, *, session):
        await asyncio.sleep(500)


async def test_the_rollouts_deadline_is_the_users_too():
    rollout = await play(SLIP, user=lambda environments: Hanging(), rollout_timeout_s=0.3)
    assert (rollout.status, rollout.fault) == ("void", "not done within 0.3 s")


BILL = LedgerEntry(
    kind="user",
    name="GPT-5",
    priced_as=("GPT-5",),
    usage=Usage(num_requests=1),
    cost_usd=0.5,
    latency_s=1.0,
    turn=0,
)


class Opener(Hanging):
    """A user that is paid for bringing up the task, or fails to."""

    def __init__(self, fault):
        self._fault = fault

    async def opened(self, episode):
        return Opening(episode=episode, bills=(BILL,), fault=self._fault)

    async def reply(self, episode, turns, *, session):
        return UserReply(message=UserMessage(text="", is_last=True))


def test_what_a_user_is_paid_for_the_opening_is_paid_once_in_a_group():
    user = lambda environments: Opener("")  # noqa: E731
    played, spent_usd = staged(engine_of("a", "a"), locker_episode(), user=user, group_size=2)
    assert [r.status for r in played.rollouts] == ["answered"] * 2
    bills = [[entry for entry in r.ledger if entry.kind == "user"] for r in played.rollouts]
    assert bills == [[BILL], []]
    assert spent_usd == 0.5


def test_without_an_opening_nothing_is_played_and_all_rollouts_are_void():
    user = lambda environments: Opener("gone")  # noqa: E731
    played, spent_usd = staged(engine_of(), locker_episode(), user=user, group_size=2)
    assert [(r.status, r.fault, r.turns) for r in played.rollouts] == [
        ("void", "user: gone", ())
    ] * 2
    assert (played.verdicts, spent_usd) == ((None, None), 0.5)


class Echo:
    """A user that says what it hears, a number of times."""

    def __init__(self, num_times):
        self.num_times, self.heard = num_times, []

    async def opened(self, episode):
        return Opening(episode=episode)

    async def reply(self, episode, turns, *, session):
        self.heard.append((len(turns), turns[-1].text, session))
        is_last = len(self.heard) > self.num_times
        return UserReply(message=UserMessage(text=turns[-1].text, is_last=is_last))


async def test_the_user_is_asked_where_a_message_calls_nothing_and_only_there():
    echo = Echo(1)
    texts = (called("get_locker", locker_id="L1"), "<tool_call>\nno\n</tool_call>", "a", "b")
    rollout = await play(*texts, user=lambda environments: echo)
    assert echo.heard == [(3, "a", "episode-0/0"), (4, "b", "episode-0/0")]
    assert (rollout.status, rollout.answer) == ("answered", "b")


async def test_a_message_that_was_cut_is_not_said_to_the_user():
    echo = Echo(1)
    rollout = await play("word " * 99, user=lambda environments: echo, max_new_tokens=20)
    assert (rollout.status, echo.heard) == ("truncated", [])


def test_the_same_episode_is_the_same_conversation():
    first, second = (staged(golden_engine(), locker_episode())[0] for _ in range(2))
    assert replace(first.rollouts[0], wall_s=0.0) == replace(second.rollouts[0], wall_s=0.0)
