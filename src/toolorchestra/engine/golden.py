"""The policy that knows the golden actions of a domain's task, and what its user waits for.

It shows that a task can be solved, and what that takes: the bar that no policy has to exceed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from toolorchestra.domain.goal import goal_of
from toolorchestra.domain.kinds import AnyTask
from toolorchestra.engine.policies import final_text
from toolorchestra.types import Episode, Turn

GO_ON = "Please go on."
"""What is said to a user who waits for nothing in particular."""


class Golden:
    """Calls the golden actions in their order, and asks the user for those that are the user's."""

    def __call__(self, episode: Episode, turns: Sequence[Turn], rng: Random) -> str:
        """Returns the next message."""
        goal = goal_of(episode.task)
        if goal is None:
            return final_text(episode.task.answer)
        action = next(iter(goal.task.actions[_num_done(turns) :]), None)
        if action is not None and action.by == "policy":
            return _call_text(action.name, action.arguments)
        parts = [_cue(goal.task, turns)]
        if action is None and goal.task.communicate:
            parts.append(f"That is done: {'; '.join(goal.task.communicate)}.")
        return " ".join(part for part in parts if part) or final_text("done")


def _num_done(turns: Sequence[Turn]) -> int:
    """Calls that were made, by either party."""
    theirs = sum(len(turn.user.calls) for turn in turns if turn.user is not None)
    return sum(len(turn.calls) for turn in turns) + theirs


def _cue(task: AnyTask, turns: Sequence[Turn]) -> str:
    """What has the user take its next step; empty where there is none."""
    num_taken = 1 + sum(turn.user is not None for turn in turns)
    if num_taken >= len(task.steps):
        return ""
    cues = task.steps[num_taken].cues
    return f"{cues[0]}?" if cues else GO_ON


def _call_text(name: str, arguments: Mapping[str, Any]) -> str:
    call = json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"
