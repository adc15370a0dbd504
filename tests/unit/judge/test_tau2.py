"""Which conversation tau2-bench's evaluators are given, and when they are not asked."""

from dataclasses import replace
from types import SimpleNamespace as Some

import pytest
from tests.invariant.records import rollout
from tests.unit.user.scene import said

from toolorchestra.domain.goal import Tau2Goal
from toolorchestra.domain.tau2.domain import Edition, Tau2Domain
from toolorchestra.domain.tau2.evaluate import Called, Message, Unrepeatable
from toolorchestra.domain.tau2.function import Tau2Function
from toolorchestra.domain.tau2.task import Tau2Task
from toolorchestra.judge import tau2
from toolorchestra.types import ToolCall, ToolResult, UserMessage

FUNCTION = Tau2Function(name="pay", description="Pays.", parameters={"type": "object"})
TASK = Tau2Task(id="7", instruction="Pay.", scenario="", steps=(), actions=(), communicate=())
GOAL = Tau2Goal(
    domain=Tau2Domain(
        name="tau2/shop",
        functions={"pay": FUNCTION, "calculate": FUNCTION},
        user_functions={},
        policy="",
        tasks={"7": TASK},
        edition=Edition(version="26.3", tasks_sha256=""),
        world=None,
        sources={},
    ),
    task=TASK,
)
BYE = said("Paid.", UserMessage(text="Thanks.", is_last=True))


@pytest.fixture
def heard(monkeypatch):
    """What the evaluators hear; they find nothing wrong."""
    heard = []

    def evaluate(domain, task_id, messages):
        heard.extend(messages)
        return []

    monkeypatch.setattr(tau2, "evaluate", evaluate)
    monkeypatch.setattr(tau2, "tau2_module", lambda name: Some(DEFAULT_MAX_ERRORS=10))
    return heard


def judged(*turns, answer="Paid."):
    return tau2.judge_tau2(GOAL, "I want to pay.", rollout(*turns, answer=answer))


def called(name, status="ok", content="{}", number=0, malformed=False, **arguments):
    """A turn that calls one tool."""
    call = ToolCall(id=f"call_{number}", name=name, arguments=arguments)
    metadata = {"malformed": True} if malformed else {}
    result = ToolResult(
        call_id=call.id, name=name, content=content, status=status, metadata=metadata
    )
    return replace(said("<tool_call>"), calls=(call,), results=(result,))


def test_a_conversation_begins_with_the_greeting_and_holds_what_both_said_and_called(heard):
    call = ToolCall(id="user_call_0", name="look", arguments={"at": "it"})
    result = ToolResult(call_id=call.id, name="look", content="error: no", status="policy_error")
    look = said("Look!", UserMessage(text="I did.", calls=(call,), results=(result,)))
    verdict = judged(called("pay", content="paid 3", amount=3), look, BYE)
    assert (verdict.is_solved, verdict.decided_by, verdict.reason) == (True, "tau2", "")
    paid = Called(id="call_0", name="pay", arguments={"amount": 3}, content="paid 3", is_ok=True)
    looked = Called(
        id="user_call_0", name="look", arguments={"at": "it"}, content="Error: no", is_ok=False
    )
    assert heard == [
        Message(by="policy", text="Hi! How can I help you today?"),
        Message(by="user", text="I want to pay."),
        Message(by="policy", calls=(paid,)),
        Message(by="policy", text="Look!"),
        Message(by="user", calls=(looked,)),
        Message(by="user", text="I did."),
        Message(by="policy", text="Paid."),
        Message(by="user", text="Thanks."),
    ]


@pytest.mark.parametrize(
    "turn",
    [
        called("gpt_5", question="2 + 2"),
        called("pay", status="policy_error", malformed=True),
        called("calculate", status="policy_error", expression="9**9**9"),
    ],
    ids=["an expert", "a refused call", "an endless one"],
)
def test_what_never_reached_a_tool_of_the_domain_is_left_out(heard, turn):
    judged(turn, BYE)
    assert [message.calls for message in heard] == [(), (), (), ()]


def test_a_conversation_that_is_not_ended_is_not_solved(heard):
    verdict = tau2.judge_tau2(GOAL, "Hi.", replace(rollout(BYE, answer=None), status="max_turns"))
    assert (verdict.is_solved, heard) == (False, [])
    assert verdict.reason == "the conversation was not brought to its end: max_turns"


def test_the_tenth_failed_call_ends_a_conversation_unsolved(heard):
    wrong = called("pay", status="policy_error", content="error: no")
    expert = called("gpt_5", status="policy_error", content="error: no")
    assert judged(*[wrong] * 9, *[expert] * 9, BYE).is_solved is True
    verdict = judged(*[wrong] * 9, called("nothing", status="policy_error", malformed=True), BYE)
    assert (verdict.is_solved, verdict.reason) == (
        False, "10 calls failed, and 10 end a conversation",
    )  # fmt: skip


def test_what_cannot_be_repeated_is_not_decided(heard, monkeypatch):
    def evaluate(domain, task_id, messages):
        raise Unrepeatable("another bill")

    monkeypatch.setattr(tau2, "evaluate", evaluate)
    assert judged(BYE).is_solved is None
