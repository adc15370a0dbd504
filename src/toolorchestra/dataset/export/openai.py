"""A domain's task as a conversation to fine-tune on, in the form of OpenAI's chat fine-tuning.

The golden calls are made one a message, as a later one may need what an earlier one gave, and the
results are those of the environment. The last message says what has to be said.
"""

from __future__ import annotations

import json

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.fault import BadDomain
from toolorchestra.domain.task import DomainTask
from toolorchestra.types import Json


def conversation(domain: Domain, task: DomainTask) -> Json:
    """One line of the file: messages, and the functions that may be called.

    Raises:
        BadDomain: A golden action fails.
    """
    assert not task.needs_user, "what a user does has no place in this form"
    messages: list[Json] = [
        {"role": "system", "content": domain.policy},
        {"role": "user", "content": task.instruction},
    ]
    environment = domain.begin(task)
    for number, action in enumerate(task.actions, start=1):
        outcome = environment.call(action.name, action.arguments)
        if not outcome.is_ok:
            raise BadDomain(f"task {task.id}: {action.name} fails: {outcome.content}")
        call_id = f"call_{number}"
        messages += (
            _call(call_id, action.name, action.arguments),
            {"role": "tool", "tool_call_id": call_id, "content": outcome.content},
        )
    messages.append({"role": "assistant", "content": closing_words(task)})
    return {"messages": messages, "tools": tools_of(domain), "parallel_tool_calls": False}


def tools_of(domain: Domain) -> list[Json]:
    """The functions that the policy may call."""
    return [
        {
            "type": "function",
            "function": {
                "name": function.name,
                "description": function.description,
                "parameters": dict(function.parameters),
            },
        }
        for function in domain.functions.values()
    ]


def closing_words(task: DomainTask) -> str:
    """What the user is told at the end."""
    if not task.communicate:
        return "That is done."
    return f"Here is what you need to know: {'; '.join(task.communicate)}."


def _call(call_id: str, name: str, arguments: object) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
