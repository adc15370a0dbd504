"""A real expert as a tool: what it is told, what the policy reads, what is charged."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.tool.local_world import make_context

from toolorchestra.provider.base import Attempt, Reply
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.tool.config import ROLES, ToolConfig
from toolorchestra.tool.expert import NO_ANSWER, Expert
from toolorchestra.tool.expert_config import AnswerLimits, ExpertConfig, RoleConfig
from toolorchestra.types import ToolResult, Turn, Usage

QUESTION = "Who wrote the play in which a ghost walks?"


class PlannedModel:
    """A stand-in for a model: it says what was planned and remembers what it was asked."""

    def __init__(self, said):
        self.said, self.asked = said, []

    async def complete(self, messages, *, sampling, deadline_s):
        self.asked.append((messages, sampling, deadline_s))
        if isinstance(self.said, Exception):
            raise self.said
        usage = Usage(input_tokens=30, output_tokens=7, num_requests=1)
        return Reply(
            text=self.said,
            reasoning="",
            is_cut=False,
            usage=usage,
            latency_s=2.0,
            attempts=(Attempt(usage=usage, latency_s=2.0),),
        )


class Recorder:
    """A stand-in for the tool that carries out what an expert writes."""

    def __init__(self, content="found it", status="ok"):
        self.content, self.status, self.arguments = content, status, []

    async def call(self, arguments, context):
        self.arguments.append(arguments)
        return ToolResult(
            call_id=context.call_id,
            name="used",
            content=self.content,
            status=self.status,
            usage=Usage(compute_s=3.0, num_requests=1),
            latency_s=4.0,
        )


def expert(said, *, role="answer", uses=None, context="task", max_chars=1000, **prompts):
    model = PlannedModel(said)
    config = ToolConfig(
        kind="llm",
        role=role,
        uses="used" if uses else "",
        description="An expert.",
        priced_as="Big",
        latency_s=9.0,
    )
    roles = {name: RoleConfig(system=f"You are of the role {name}.") for name in ROLES}
    tool = Expert(
        "big",
        config,
        model=model,
        prompts=ExpertConfig(name="test", roles=roles, **prompts),
        context=context,
        deadline_s=5.0,
        max_argument_chars=max_chars,
        uses=uses,
    )
    return tool, model


def told(model):
    (messages, _, _), *_ = model.asked
    assert [item.role for item in messages] == ["system", "user"]
    return messages[1].content


async def ask(tool, text=None, turns=()):
    context = replace(make_context(QUESTION), turns=turns)
    return await tool.call({} if text is None else {"question": text}, context)


async def test_an_answer_is_shown_with_what_it_used_and_how_long_it_took():
    tool, model = expert("<think>A ghost, so Denmark.</think>\nanswer: Shakespeare")
    result = await ask(tool)
    assert (result.content, result.status) == ("answer: Shakespeare", "ok")
    assert result.usage == Usage(input_tokens=30, output_tokens=7, num_requests=1)
    assert result.latency_s == 2.0 and result.cost_usd == 0.0
    assert told(model) == QUESTION


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("argument", "Which play?"),
        ("task", f"The task:\n{QUESTION}\n\nYour part of it:\nWhich play?"),
        (
            "history",
            "Results so far:\n[search]\nHamlet has a ghost.\n\n"
            f"The task:\n{QUESTION}\n\nYour part of it:\nWhich play?",
        ),
    ],
)
async def test_an_expert_sees_what_the_toolset_says_and_no_more(context, expected):
    results = (
        ToolResult(call_id="1", name="search", content="Hamlet has a ghost.", status="ok"),
        ToolResult(call_id="2", name="search", content="error: no query", status="policy_error"),
    )
    turn = Turn(
        prompt_tokens=1, completion_ids=(1,), logprobs=(0.0,), version=0, finish_reason="stop",
        text="I wonder.", thinking="", calls=(), errors=(), results=results, policy_cost_usd=0.0,
    )  # fmt: skip
    tool, model = expert("answer: Hamlet", context=context)
    await ask(tool, "Which play?", turns=(turn,))
    assert told(model) == expected


async def test_of_a_long_history_the_latest_part_is_shown():
    results = (ToolResult(call_id="1", name="search", content="old " * 99 + "new", status="ok"),)
    turn = Turn(
        prompt_tokens=1, completion_ids=(1,), logprobs=(0.0,), version=0, finish_reason="stop",
        text="", thinking="", calls=(), errors=(), results=results, policy_cost_usd=0.0,
    )  # fmt: skip
    tool, model = expert("answer: x", context="history", max_history_chars=7)
    await ask(tool, "Which?", turns=(turn,))
    assert told(model).startswith("Results so far:\nold new\n\nThe task:")


@pytest.mark.parametrize("said", ["", "  ", "<think>I never end", "<think>done</think>"])
async def test_a_reply_without_an_answer_is_an_abstention(said):
    tool, _ = expert(said)
    result = await ask(tool)
    assert (result.content, result.status) == (NO_ANSWER, "abstained")
    assert result.usage.output_tokens == 7


async def test_a_long_reply_is_cut_for_the_policy_and_says_so():
    tool, _ = expert("x" * 50, max_reply_chars=10)
    assert (await ask(tool)).content == "x" * 10 + "\n(cut here)"


async def test_a_query_writers_query_is_searched_and_both_are_charged():
    search = Recorder("Hamlet, a play\nhttp://x\nBy Shakespeare")
    tool, _ = expert('Here you are.\nQuery: "ghost play author"', role="query", uses=search)
    result = await ask(tool)
    assert search.arguments == [{"query": "ghost play author"}]
    assert result.content == f"query: ghost play author\n{search.content}"
    assert result.usage == Usage(input_tokens=30, output_tokens=7, compute_s=3.0, num_requests=2)
    assert result.latency_s == 6.0 and result.name == "big" and result.status == "ok"


async def test_a_code_writers_last_program_is_run():
    sandbox = Recorder("answer: 4")
    tool, _ = expert(
        "First:\n```\n1+1\n```\nBetter:\n```python\n2+2\n```", role="code", uses=sandbox
    )
    result = await ask(tool)
    assert sandbox.arguments == [{"code": "2+2"}] and result.content == "answer: 4"


async def test_a_program_that_fails_is_no_fault_of_the_policy():
    sandbox = Recorder("error: NameError", "policy_error")
    tool, _ = expert("```\noops\n```", role="code", uses=sandbox)
    result = await ask(tool)
    assert (result.content, result.status) == ("error: NameError", "abstained")


async def test_a_fault_of_what_carries_it_out_is_a_providers_fault():
    tool, _ = expert("```\n1\n```", role="code", uses=Recorder("error: gone", "provider_error"))
    assert (await ask(tool)).status == "provider_error"


async def test_nothing_is_run_where_nothing_was_written():
    sandbox = Recorder()
    tool, _ = expert("<think>hm</think>", role="code", uses=sandbox)
    assert (await ask(tool)).status == "abstained" and not sandbox.arguments


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("rate_limit", "provider_error"),
        ("auth", "provider_error"),
        ("broken", "provider_error"),
        ("refused", "provider_error"),
        ("input", "policy_error"),
    ],
)
async def test_a_providers_fault_voids_the_rollout_unless_what_was_asked_is_the_fault(kind, status):
    fault = ProviderFault("acme answered so", kind=kind)
    fault.usage = Usage(num_requests=3)
    tool, _ = expert(fault)
    result = await ask(tool)
    assert result.status == status and result.content == "error: acme answered so"
    assert result.usage.num_requests == 3


async def test_an_argument_of_ten_megabytes_is_refused_to_the_policy_and_never_sent():
    tool, model = expert("answer: x", max_chars=200_000)
    result = await ask(tool, "x" * 10_000_000)
    assert result.status == "policy_error" and not model.asked
    assert (
        result.content
        == "error: 10,000,000 characters are too long a question; use at most 200,000"
    )


async def test_a_reasoning_model_is_asked_as_the_config_says_for_it_alone():
    limits = AnswerLimits(max_tokens=99, reasoning_effort="low")
    tool, model = expert("answer: x", models={"Big": limits})
    await ask(tool)
    (_, sampling, deadline_s), *_ = model.asked
    assert (sampling.max_tokens, sampling.temperature) == (99, None)
    assert sampling.reasoning_effort == "low" and deadline_s == 5.0
