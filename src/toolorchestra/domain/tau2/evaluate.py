"""The verdict of tau2-bench's own evaluators on a conversation that was held here.

Their products are put together as `tau2.evaluator.evaluator` does, which is not called itself: it
reads all records anew for every task, and loads clients of models that no basis here asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolorchestra.domain.task import Party
from toolorchestra.domain.tau2.domain import Tau2Domain
from toolorchestra.domain.tau2.environment import REQUESTORS
from toolorchestra.domain.tau2.package import tau2_module


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """A call that ran, and what it gave, word for word."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    content: str
    is_ok: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What one party said or called."""

    by: Party
    text: str = ""
    calls: tuple[Called, ...] = ()


class Unrepeatable(Exception):
    """Calls that were made again gave something else, so that nothing can be told."""


def evaluate(domain: Tau2Domain, task_id: str, messages: Sequence[Message]) -> list[str]:
    """All that keeps a conversation from having solved a task: nothing, where it has.

    Args:
        domain: Where the task belongs.
        task_id: Of one of its tasks.
        messages: The conversation from its first message on, brought to its end by the user.

    Raises:
        Unrepeatable: A tool gave something else than in the conversation.
    """
    task = domain.sources[task_id]
    trajectory = trajectory_of(messages)
    basis = {kind.value for kind in task.evaluation_criteria.reward_basis}
    wrong: list[str] = []
    if basis & {"DB", "ENV_ASSERTION"}:
        try:
            found = _evaluator("env", "Environment").calculate_reward(
                environment_constructor=domain.world.environment,
                task=task,
                full_trajectory=trajectory,
            )
        except ValueError as error:
            raise Unrepeatable(str(error)) from error
        wrong += _wrong_in_environment(found, basis)
    given = {"task": task, "full_trajectory": trajectory}
    if "ACTION" in basis:
        checks = _evaluator("action", "Action").calculate_reward(**given).action_checks
        wrong += [
            f"not done: {check.action.get_func_format()}"
            for check in checks or ()
            if not check.action_match
        ]
    if "COMMUNICATE" in basis:
        checks = _evaluator("communicate", "Communicate").calculate_reward(**given)
        wrong += [f"not said: {c.info}" for c in checks.communicate_checks or () if not c.met]
    return wrong


def _evaluator(module: str, name: str) -> Any:
    return getattr(tau2_module(f"evaluator.evaluator_{module}"), f"{name}Evaluator")


def _wrong_in_environment(found: Any, basis: set[str]) -> list[str]:
    wrong = []
    if "DB" in basis and not found.db_check.db_match:
        wrong.append("database: not as after the golden actions")
    if "ENV_ASSERTION" in basis:
        wrong += [
            f"not so: {one.env_assertion.func_name}({one.env_assertion.arguments})"
            for one in found.env_assertions or ()
            if not one.met
        ]
    return wrong


def trajectory_of(messages: Sequence[Message]) -> list[Any]:
    """A conversation in the package's own classes."""
    return [part for message in messages for part in _parts(message)]


def _parts(message: Message) -> Iterator[Any]:
    own, role = tau2_module("data_model.message"), REQUESTORS[message.by]
    calls = [
        own.ToolCall(id=c.id, name=c.name, arguments=dict(c.arguments), requestor=role)
        for c in message.calls
    ]
    kind = own.AssistantMessage if message.by == "policy" else own.UserMessage
    yield kind(role=role, content=message.text or None, tool_calls=calls or None)
    for call in message.calls:
        yield own.ToolMessage(
            id=call.id, role="tool", content=call.content, requestor=role, error=not call.is_ok
        )
