"""How a user brings up a task: with the first of its steps, or else with the whole instruction."""

from __future__ import annotations

from dataclasses import replace

from toolorchestra.domain.goal import goal_of
from toolorchestra.types import Episode


def opened(episode: Episode) -> Episode:
    """The episode with what its user says first as the question.

    So nothing that the policy or its tools are shown tells more than the user has said.
    """
    goal = goal_of(episode.task)
    if goal is None or not goal.task.steps:
        return episode
    return replace(episode, task=replace(episode.task, question=goal.task.steps[0].say))
