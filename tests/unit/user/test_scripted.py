"""A scripted user takes a step where the policy has said what calls for it."""

import pytest
from tests.unit.user.scene import locker_episode, said, with_reply

from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.task import UserStep
from toolorchestra.tool.domain import Environments
from toolorchestra.types import ToolCall, UserMessage
from toolorchestra.user.opening import opened
from toolorchestra.user.scripted import LEAVES, ScriptedUser, calls_for

SORRY = "I am sorry, I do not understand. "


class Talk:
    """One conversation with a scripted user."""

    def __init__(self, task="stuck", *, patience=3):
        self.environments = Environments()
        self.user = ScriptedUser(self.environments, patience=patience)
        self.episode = opened(locker_episode(task))
        self.turns = []

    async def tell(self, text):
        self.turns.append(said(text))
        reply = await self.user.reply(self.episode, self.turns, session="e/0")
        assert (reply.bills, reply.is_last) == ((), reply.message.is_last)
        self.turns = with_reply(self.turns, reply.message)
        return reply.message

    @property
    def locker(self):
        return self.environments.of("e/0", self.episode.task).database.get("lockers", "L1")


async def test_the_first_step_is_what_the_task_is_brought_up_with():
    episode = locker_episode()
    user = ScriptedUser(Environments(), patience=3)
    task = (await user.opened(episode)).episode.task
    assert task.question == "My parcel is stuck in locker L1."
    assert (task.id, task.metadata) == (episode.task.id, episode.task.metadata)


async def test_a_cue_has_the_user_act_on_the_rollouts_database_and_say_what_that_gave():
    talk = Talk()
    message = await talk.tell("What does the SLIP say?")
    assert message == UserMessage(
        text="On the slip I read 4711.",
        calls=(ToolCall(id="user_call_0", name="read_slip", arguments={"locker_id": "L1"}),),
        results=message.results,
    )
    assert [(r.call_id, r.content, r.status) for r in message.results] == [
        ("user_call_0", "4711", "ok")
    ]
    talk.environments.of("e/0", talk.episode.task).call(
        "release", {"locker_id": "L1", "slip": "4711"}
    )
    assert talk.locker["is_open"] is False
    message = await talk.tell("The code is 52; please pull the door.")
    assert (message.text, talk.locker["is_open"]) == ("I see: the door is open.", True)
    assert message.calls[0].id == "user_call_1"


async def test_what_the_user_tries_too_early_fails_changes_nothing_and_is_told():
    talk = Talk()
    await talk.tell("Your slip, please.")
    message = await talk.tell("Just open it!")
    assert message.text == "I see: error: the door does not move."
    assert [result.status for result in message.results] == ["policy_error"]
    assert talk.locker["is_open"] is False


async def test_the_message_after_the_last_step_ends_the_conversation():
    talk = Talk("state")
    assert (await talk.tell("Which one?")).text == "The one with the number L2."
    assert (await talk.tell("It is open.")).text == "Thank you."
    assert await talk.tell("You are welcome.") == UserMessage(text="", is_last=True)


async def test_a_message_without_a_cue_is_not_understood_and_told_what_is_waited_for():
    talk = Talk()
    assert await talk.tell("Hm.") == UserMessage(text=f"{SORRY}My parcel is stuck in locker L1.")
    await talk.tell("The slip?")
    assert (await talk.tell("Hm.")).text == f"{SORRY}On the slip I read 4711."


async def test_words_with_braces_are_repeated_as_they_are():
    talk = Talk()
    talk.episode = locker_episode("stuck")
    talk.turns = [said("slip", UserMessage(text="I read {said} {0} {result}."))]
    assert (await talk.tell("Hm.")).text == SORRY + "I read {said} {0} {result}."


@pytest.mark.parametrize("patience", [1, 2, 5])
async def test_a_user_leaves_once_its_patience_is_at_an_end(patience):
    talk = Talk(patience=patience)
    messages = [await talk.tell(f"Hm {number}.") for number in range(patience)]
    assert [message.is_last for message in messages] == [False] * (patience - 1) + [True]
    assert messages[-1].text == LEAVES


async def test_a_step_forward_renews_the_patience():
    talk = Talk(patience=2)
    for text in ("Hm.", "slip", "Hm.", "open"):
        assert not (await talk.tell(text)).is_last
    assert (await talk.tell("Done.")).is_last


async def test_a_task_without_steps_is_told_as_a_whole_and_answered_at_once():
    talk = Talk("plain")
    assert talk.episode == locker_episode("plain")
    assert await talk.tell("Done.") == UserMessage(text="", is_last=True)


async def test_nobody_answers_in_a_task_of_no_domain(make_episode):
    user = ScriptedUser(Environments(), patience=3)
    assert (await user.opened(make_episode())).episode == make_episode()
    reply = await user.reply(make_episode(), [said("4")], session="e/0")
    assert (reply.message, reply.fault, reply.is_last) == (None, "", True)


async def test_thoughts_hold_no_cues():
    talk = Talk()
    assert (await talk.tell("<think>\nthe slip\n</think>\n\nHm.")).text.startswith(SORRY)


async def test_a_bug_of_the_domain_is_a_fault(monkeypatch):
    def broken(*_):
        raise DomainBug("read_slip broke: KeyError: 'x'")

    monkeypatch.setattr("toolorchestra.domain.environment.call_function", broken)
    user = ScriptedUser(Environments(), patience=3)
    reply = await user.reply(locker_episode(), [said("The slip?")], session="e/0")
    assert reply.fault == "error: read_slip broke: KeyError: 'x'"


async def test_the_same_messages_get_the_same_replies():
    texts = ["Hm.", "slip", "Hm.", "Hm.", "pull", "Bye."]
    first, second = Talk(), Talk()
    assert [await first.tell(t) for t in texts] == [await second.tell(t) for t in texts]


@pytest.mark.parametrize(
    ("cues", "text", "is_called_for"),
    [
        ((), "", True),
        (("slip",), "", False),
        (("slip",), "Your Slip?", True),
        (("slip",), "the slips", False),  # whole words
        (("slip",), "slip_7", False),
        (("letter box",), "the letter\n  BOX", True),
        (("a.b",), "a-b", False),  # no pattern
        (("(1)",), "see (1)!", True),
        (("no", "straße"), "STRASSE", True),
    ],
)
def test_cues_are_whole_words_in_any_case(cues, text, is_called_for):
    assert calls_for(UserStep(say="x", cues=cues), text) is is_called_for
