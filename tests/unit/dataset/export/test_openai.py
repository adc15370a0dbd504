"""Conversations to fine-tune on: valid in OpenAI's own types, and right in the domain."""

import json
from dataclasses import replace

import pytest
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from pydantic import TypeAdapter

from toolorchestra.chat.arguments import check_arguments
from toolorchestra.dataset.export.openai import closing_words, conversation, tools_of
from toolorchestra.domain.fault import BadDomain
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.domain.task import Action
from toolorchestra.domain.verify import verify
from toolorchestra.types import ToolCall

MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
TOOLS = TypeAdapter(list[ChatCompletionFunctionToolParam])


@pytest.fixture(scope="module", params=SHIPPED)
def domain(request):
    return load_shipped(request.param)


@pytest.fixture(scope="module")
def lines(domain):
    """Each task with its line, as it is read back."""
    tasks = [task for task in domain.tasks.values() if not task.needs_user]
    return [(task, json.loads(json.dumps(conversation(domain, task)))) for task in tasks]


def test_every_line_is_of_openais_types_and_has_no_key_beside(lines):
    for _, line in lines:
        assert line.keys() == {"messages", "tools", "parallel_tool_calls"}
        MESSAGES.validate_python(line["messages"])
    TOOLS.validate_python(lines[0][1]["tools"])
    assert all(line["tools"] == lines[0][1]["tools"] for _, line in lines)


def test_a_conversation_begins_with_rules_and_question_and_ends_with_words(domain, lines):
    for task, line in lines:
        first, second, *between, last = line["messages"]
        assert first == {"role": "system", "content": domain.policy}
        assert second == {"role": "user", "content": task.instruction}
        assert last == {"role": "assistant", "content": closing_words(task)}
        assert [message["role"] for message in between] == ["assistant", "tool"] * len(task.actions)


def test_every_call_fits_the_schema_that_is_shown_and_has_its_result_next(lines):
    for _, line in lines:
        schemas = {
            tool["function"]["name"]: tool["function"]["parameters"] for tool in line["tools"]
        }
        ids = []
        between = line["messages"][2:-1]
        for said, result in zip(between[::2], between[1::2], strict=True):
            (call,) = said["tool_calls"]
            assert isinstance(call["function"]["arguments"], str)
            made = ToolCall(
                id=call["id"],
                name=call["function"]["name"],
                arguments=json.loads(call["function"]["arguments"]),
            )
            assert check_arguments(made, schemas[made.name]) is None
            assert result["tool_call_id"] == call["id"]
            ids.append(call["id"])
        assert len(set(ids)) == len(ids)


def test_what_a_conversation_does_and_says_solves_its_task(domain, lines):
    for task, line in lines:
        actions = [
            Action(
                name=call["function"]["name"], arguments=json.loads(call["function"]["arguments"])
            )
            for message in line["messages"]
            for call in message.get("tool_calls", ())
        ]
        said = [line["messages"][-1]["content"]]
        assert verify(domain, task, actions=actions, messages=said).is_solved, task.id


def test_results_are_those_of_the_environment_as_earlier_calls_have_left_it():
    domain = load_shipped("library")
    task = next(t for t in domain.tasks.values() if len(t.actions) > 2)
    environment = domain.begin(task)
    wanted = [environment.call(one.name, one.arguments).content for one in task.actions]
    told = [m["content"] for m in conversation(domain, task)["messages"] if m["role"] == "tool"]
    assert told == wanted


def test_names_of_tools_are_ones_that_openai_takes(domain):
    for tool in tools_of(domain):
        name = tool["function"]["name"]
        assert len(name) <= 64 and name.replace("_", "").isalnum() and name.isascii()
        assert tool["function"]["description"]


def test_a_golden_action_that_fails_is_no_example():
    domain = load_shipped("library")
    task = next(iter(domain.tasks.values()))
    broken = replace(task, actions=(Action(name="get_member", arguments={"member_id": "M999"}),))
    with pytest.raises(BadDomain, match=f"task {task.id}: get_member fails: there is no 'M999'"):
        conversation(domain, broken)
