"""The outcome term: whether a rollout's answer solves its task (paper, section 3.2)."""

from __future__ import annotations

from toolorchestra.reward.match import match_answer
from toolorchestra.types import Task, Verdict


def judge_answer(task: Task, answer: str | None) -> Verdict:
    """Judge one answer.

    Args:
        task: Its `answer_kind` chooses the matcher.
        answer: What the policy ended with; None where it never answered.

    Returns:
        Solved or not, and what decided it. `is_solved` is None only where the matcher cannot decide
        (a gold answer that is not of the task's kind, a formula that took too long): such a rollout
        is unscored, which is not the same as wrong.

    Raises:
        ValueError: the task's `answer_kind` has no matcher.
    """
    is_gym = task.answer_kind == "reasoning_gym"
    decided_by = "reasoning_gym" if is_gym else f"match:{task.answer_kind}"
    if answer is None or not answer.strip():
        reason = "no answer was given" if answer is None else "the answer is empty"
        return Verdict(is_solved=False, decided_by=decided_by, reason=reason)
    is_solved = match_answer(task, answer)
    reason = "" if is_solved is not None else f"cannot be decided as {task.answer_kind}"
    return Verdict(is_solved=is_solved, decided_by=decided_by, reason=reason)
