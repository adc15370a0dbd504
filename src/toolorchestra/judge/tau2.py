"""The verdict on a task of tau2-bench: its own evaluators on the conversation that was held here.

What of a rollout makes up that conversation is what its runner would have written down: what was
said, and every call that ran of a tool of the domain. Experts are not there. A call that was
refused, as its arguments do not fit the tool's schema, never reached a tool, and counts as an error
alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolorchestra.chat.history import said_in
from toolorchestra.domain.goal import Tau2Goal
from toolorchestra.domain.tau2.environment import ERROR, is_endless
from toolorchestra.domain.tau2.evaluate import Called, Message, Unrepeatable, evaluate
from toolorchestra.domain.tau2.package import tau2_module
from toolorchestra.reward.measures import is_executed
from toolorchestra.types import Rollout, ToolCall, ToolResult, Turn, Verdict

DECIDED_BY = "tau2"


def judge_tau2(goal: Tau2Goal, opening: str, rollout: Rollout) -> Verdict:
    """Judge a rollout that has ended and is not void.

    Args:
        goal: What was to be reached.
        opening: What the user said first.
        rollout: With all that was said and done since.

    Returns:
        Solved or not; not decided where a tool that is called again gives something else, which
        tau2-bench's own runner breaks off with.
    """
    if rollout.answer is None:
        return _verdict([f"the conversation was not brought to its end: {rollout.status}"])
    most = tau2_module("config").DEFAULT_MAX_ERRORS
    if (num_errors := sum(_num_errors(goal, turn) for turn in rollout.turns)) >= most:
        return _verdict([f"{num_errors} calls failed, and {most} end a conversation"])
    try:
        messages = conversation_of(goal, opening, rollout)
        return _verdict(evaluate(goal.domain, goal.task.id, messages))
    except Unrepeatable as error:
        reason = f"a tool gave something else when it was called again: {error}"
        return Verdict(is_solved=None, decided_by=DECIDED_BY, reason=reason)


def conversation_of(goal: Tau2Goal, opening: str, rollout: Rollout) -> list[Message]:
    """The whole conversation, as tau2-bench's runner would have written it down."""
    began = [Message(by="policy", text=goal.domain.greeting), Message(by="user", text=opening)]
    return began + [message for turn in rollout.turns for message in messages_of(goal, turn)]


def messages_of(goal: Tau2Goal, turn: Turn) -> Iterator[Message]:
    """What a turn adds to the conversation."""
    ran = [
        result
        for result in turn.results
        if result.name in goal.domain.functions and is_executed(result)
    ]
    calls = _called(turn.calls, ran)
    if calls or turn.user is not None:
        yield Message(by="policy", text=said_in(turn), calls=calls)
    if (user := turn.user) is not None:
        for call in _called(user.calls, user.results):
            yield Message(by="user", calls=(call,))
        yield Message(by="user", text=user.text)


def _called(
    calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...] | list[ToolResult]
) -> tuple[Called, ...]:
    asked = {call.id: call for call in calls}
    pairs = ((asked[result.call_id], result) for result in results)
    return tuple(
        Called(
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            content=_content(result),
            is_ok=result.status == "ok",
        )
        for call, result in pairs
        if not is_endless(call.name, call.arguments)
    )


def _content(result: ToolResult) -> str:
    """Word for word what the tool gave: a failure is told in this project's own way."""
    if result.status == "ok":
        return result.content
    return ERROR + result.content.removeprefix("error: ")


def _num_errors(goal: Tau2Goal, turn: Turn) -> int:
    """Calls of either party that failed, of tools that do not exist too; never those of experts."""
    own = [r for r in turn.results if r.name in goal.domain.functions or not is_executed(r)]
    theirs = turn.user.results if turn.user is not None else ()
    return sum(result.status == "policy_error" for result in (*own, *theirs))


def _verdict(wrong: list[str]) -> Verdict:
    return Verdict(is_solved=not wrong, decided_by=DECIDED_BY, reason="\n".join(wrong))
