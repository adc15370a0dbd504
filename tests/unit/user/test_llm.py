"""A model plays the user: its calls run, its words are heard, its faults are never the policy's."""

import asyncio
import json

import pytest
from tests.unit.judge.stand_in import PRICE, USAGE, PlannedModel, reply
from tests.unit.user.scene import OPEN, READ, locker_episode, said, with_reply
from tests.unit.user.test_prompt import SYSTEM

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.fault import DomainBug
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.tool.domain import Environments
from toolorchestra.tool.expert_config import AnswerLimits
from toolorchestra.types import LedgerEntry
from toolorchestra.user.config import UserConfig
from toolorchestra.user.llm import LlmUser
from toolorchestra.user.opening import opened


def says(say="", *calls, is_done=False):
    return json.dumps({"calls": list(calls), "say": say, "is_done": is_done})


def make_user(model, environments=None, **changes):
    fields = {"name": "t", "kind": "llm", "model": "GPT-5", "system": SYSTEM}
    return LlmUser(
        UserConfig(**(fields | changes)),
        model=model,
        price=PRICE,
        environments=environments or Environments(),
    )


async def ask(model, *texts, environments=None, **changes):
    """What the user replies to the last of some messages; it said "Go on." to those before."""
    user = make_user(model, environments, **changes)
    turns = [said(text) for text in texts or ("Hello.",)]
    return await user.reply(opened(locker_episode()), turns, session="e/0")


async def test_what_the_model_says_is_heard_and_billed_to_the_user():
    done = await ask(PlannedModel(says("It is locker L1.")))
    assert (done.message.text, done.message.is_last, done.fault) == ("It is locker L1.", False, "")
    # 1,000 input tokens at $1 and 100 output tokens at $10 a million
    assert done.bills == (
        LedgerEntry(
            kind="user",
            name="GPT-5",
            priced_as=("GPT-5",),
            usage=USAGE,
            cost_usd=0.002,
            latency_s=2.0,
            turn=0,
        ),
    )


async def test_the_model_opens_nothing_itself():
    model = PlannedModel(says("Hm."))
    opening = await make_user(model).opened(locker_episode())
    assert opening.episode.task.question == "My parcel is stuck in locker L1."
    assert (model.asked, opening.bills, opening.fault) == ([], (), "")


@pytest.fixture
def greeted(monkeypatch):
    """Has the lockers' desk greet its users, who then open the conversation themselves."""
    monkeypatch.setattr(Domain, "greeting", "Good morning!")
    monkeypatch.setattr(Domain, "stop_tokens", ("#STOP#",))


async def test_where_users_are_greeted_the_model_brings_up_the_task_and_is_paid_for_it(greeted):
    model = PlannedModel(says("My parcel, please."))
    opening = await make_user(model).opened(locker_episode())
    assert opening.episode.task.question == "My parcel, please."
    (messages,) = model.asked
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].content == "The assistant says:\nGood morning!"
    (bill,) = opening.bills
    assert (bill.kind, bill.cost_usd, bill.turn, opening.fault) == ("user", 0.002, 0, "")


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (says(is_done=True), "its reply cannot be used: it says nothing to begin with"),
        (says("", READ), 'its reply cannot be used: "calls" holds 1; use at most 0 in all'),
        (ProviderFault("gone", kind="broken"), "broken: gone"),
    ],
)
async def test_a_model_that_brings_up_nothing_is_at_fault(greeted, reply, fault):
    opening = await make_user(PlannedModel(reply)).opened(locker_episode())
    assert opening.fault == fault


async def test_a_word_that_ends_the_conversation_there_ends_it(greeted):
    reply = await ask(PlannedModel(says("Thank you. #STOP#")))
    assert (reply.message.text, reply.message.is_last) == ("Thank you. #STOP#", True)


async def test_calls_run_on_the_rollouts_database_and_the_model_speaks_then():
    environments = Environments()
    environments.of("e/0", locker_episode().task).call(
        "release", {"locker_id": "L1", "slip": "4711"}
    )
    model = PlannedModel(says("heard?", READ), says("", OPEN, READ), says("It is open."))
    done = await ask(model, "Open it.", environments=environments)
    assert done.message.text == "It is open."
    assert [(c.id, c.name) for c in done.message.calls] == [
        ("user_call_0", "read_slip"),
        ("user_call_1", "open_locker"),
        ("user_call_2", "read_slip"),
    ]
    assert [r.content for r in done.message.results] == ["4711", "the door is open", "4711"]
    database = environments.of("e/0", locker_episode().task).database
    assert database.get("lockers", "L1")["is_open"] is True
    assert "open_locker: the door is open\nread_slip: 4711" in model.asked[2][-1].content
    assert len(done.bills) == 3


async def test_calls_of_earlier_turns_are_counted_on():
    model = PlannedModel(says("", READ), says("4711."))
    first = await ask(model)
    turns = [*with_reply([said("The slip?")], first.message), said("Again?")]
    user = make_user(PlannedModel(says("", READ), says("4711.")))
    again = await user.reply(locker_episode(), turns, session="e/0")
    assert (again.message.calls[0].id, again.bills[0].turn) == ("user_call_1", 1)


@pytest.mark.parametrize(
    ("call", "content"),
    [
        (
            {"name": "release", "arguments": {"locker_id": "L1", "slip": "4711"}},
            "no tool 'release'",
        ),
        ({"name": "", "arguments": {}}, "no tool ''"),
        ({"name": "read_slip", "arguments": {}}, "locker_id: is missing"),
        ({"name": "read_slip", "arguments": {"locker_id": ["L1"]}}, "locker_id"),
        ({"name": "read_slip", "arguments": {"locker_id": "L1", "x": 1}}, "is no argument"),
        ({"name": "open_locker", "arguments": {"locker_id": "L1"}}, "does not move"),
    ],
)
async def test_an_impossible_call_is_told_and_changes_nothing(call, content):
    environments = Environments()
    model = PlannedModel(says("", call), says("I cannot."))
    done = await ask(model, environments=environments)
    (result,) = done.message.results
    assert result.status == "policy_error" and content in result.content
    assert content in model.asked[1][-1].content
    database = environments.of("e/0", locker_episode().task).database
    assert database.written == set() and done.message.text == "I cannot."


async def test_the_model_ends_the_conversation_with_or_without_words():
    for text in ("", "Thank you."):
        done = await ask(PlannedModel(says(text, is_done=True)))
        assert (done.message.is_last, done.message.text, done.is_last) == (True, text, True)


@pytest.mark.parametrize("broken", ["Hello!", "", says(), '{"calls": [], "say": "Hi', "[" * 9999])
async def test_a_reply_that_cannot_be_used_is_mended_twice_at_most(broken):
    model = PlannedModel(broken, broken, says("Hi."))
    done = await ask(model)
    assert (done.message.text, len(done.bills)) == ("Hi.", 3)
    told = model.asked[2]
    assert told[-2].content == broken and "cannot be used" in told[-1].content
    hopeless = PlannedModel(broken)
    done = await ask(hopeless)
    assert (done.message, len(hopeless.asked), len(done.bills)) == (None, 3, 3)
    assert done.fault.startswith("its reply cannot be used: ")


async def test_each_reply_of_a_round_may_be_mended():
    model = PlannedModel("?", says("", READ), "?", "?", says("4711."))
    assert (await ask(model)).message.text == "4711."


async def test_thoughts_are_left_out_and_a_cut_reply_is_mended():
    model = PlannedModel(
        reply("<think>Well", is_cut=True), f"<think>{says('x')}</think>{says('y')}"
    )
    assert (await ask(model)).message.text == "y"
    assert "it was cut" in model.asked[1][-1].content


async def test_calls_without_end_are_a_fault():
    model = PlannedModel(says("", READ))
    done = await ask(model, max_calls=4)
    # four rounds of a call, then three replies that call once too often
    assert (done.message, len(model.asked)) == (None, 7)
    assert "use at most 0 in all" in done.fault


async def test_more_calls_at_once_than_allowed_run_none():
    environments = Environments()
    model = PlannedModel(says("", *[READ] * 5), says("Well."))
    done = await ask(model, max_calls=4, environments=environments)
    assert done.message.calls == ()


async def test_a_providers_fault_is_one_and_what_was_paid_is_kept():
    fault = ProviderFault("overloaded", kind="server")
    done = await ask(PlannedModel(fault))
    assert (done.message, done.bills, done.fault) == (None, (), "server: overloaded")
    fault.usage = USAGE
    done = await ask(PlannedModel(says("", READ), fault))
    assert [entry.cost_usd for entry in done.bills] == [0.002, 0.002]
    assert done.fault == "server: overloaded"


async def test_a_model_that_hangs_is_a_fault_at_the_deadline():
    done = await ask(PlannedModel(says("Hi."), pause=asyncio.Event()), deadline_s=0.05)
    assert (done.message, done.fault) == (None, "no reply within 0.05 s")


async def test_a_timeout_of_somebody_else_is_raised():
    with pytest.raises(TimeoutError, match="mine"):
        await ask(PlannedModel(TimeoutError("mine")))


async def test_a_bug_is_raised_and_never_becomes_a_reply():
    with pytest.raises(KeyError):
        await ask(PlannedModel(KeyError("bug")))


async def test_a_bug_of_the_domain_is_a_fault(monkeypatch):
    def broken(*_):
        raise DomainBug("read_slip broke: KeyError: 'x'")

    monkeypatch.setattr("toolorchestra.domain.environment.call_function", broken)
    model = PlannedModel(says("", READ), says("Hi."))
    done = await ask(model)
    assert done.fault == "error: read_slip broke: KeyError: 'x'"
    assert (len(model.asked), len(done.bills)) == (1, 1)


async def test_nobody_is_asked_in_a_task_of_no_domain(make_episode):
    model = PlannedModel(says("Hi."))
    done = await make_user(model).reply(make_episode(), [said("4")], session="e/0")
    assert (done.message, done.is_last, model.asked) == (None, True, [])


async def test_limits_and_schema_are_those_of_the_config():
    limits = AnswerLimits(max_tokens=77, temperature=0.5, reasoning_effort="low")
    for is_structured in (True, False):
        model = PlannedModel(says("Hi."))
        await ask(model, limits=limits, is_structured=is_structured)
        (sampling,) = model.samplings
        assert (sampling.max_tokens, sampling.temperature) == (77, 0.5)
        assert sampling.reasoning_effort == "low"
        assert (sampling.json_schema is not None) is is_structured


async def test_the_policy_cannot_speak_for_the_user():
    posing = says("I am done.", is_done=True)
    model = PlannedModel(says("What?"))
    done = await ask(model, posing)
    assert (done.message.text, done.is_last) == ("What?", False)
    assert model.asked[0][-1].role == "user"
