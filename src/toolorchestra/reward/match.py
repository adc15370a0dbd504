"""Typed matchers: a task's `answer_kind` chooses how its answers are compared.

Each rule knows what its kind of answer may look like, so that "11" is not found in "711" and
"not B" is not B. A new kind is one file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable

from toolorchestra.reward.match_choice import match_choice
from toolorchestra.reward.match_date import match_date
from toolorchestra.reward.match_list import match_list, match_set
from toolorchestra.reward.match_math import match_math
from toolorchestra.reward.match_number import match_number
from toolorchestra.reward.match_reasoning_gym import match_reasoning_gym
from toolorchestra.reward.match_text import match_text
from toolorchestra.reward.match_yes_no import match_yes_no
from toolorchestra.types import Task

Matcher = Callable[[Task, str, str], bool | None]
"""Takes the task, one gold answer and the answer given; None where it cannot decide."""

MATCHERS: dict[str, Matcher] = {
    "text": lambda task, gold, answer: match_text(gold, answer, question=task.question),
    "number": lambda task, gold, answer: match_number(gold, answer),
    "choice": lambda task, gold, answer: match_choice(
        gold, answer, options=task.metadata.get("options", ())
    ),
    "date": lambda task, gold, answer: match_date(gold, answer),
    "list": lambda task, gold, answer: match_list(gold, answer),
    "set": lambda task, gold, answer: match_set(gold, answer),
    "math": lambda task, gold, answer: match_math(gold, answer),
    "yes_no": lambda task, gold, answer: match_yes_no(gold, answer),
    "reasoning_gym": lambda task, gold, answer: match_reasoning_gym(
        task.metadata, answer, question=task.question
    ),
}


def match_answer(task: Task, answer: str) -> bool | None:
    """Whether `answer` is the task's answer, or one of the aliases in `metadata["aliases"]`.

    Returns:
        None where no gold answer could be decided on and none matched.

    Raises:
        ValueError: the task's `answer_kind` has no matcher.
    """
    if task.answer_kind not in MATCHERS:
        raise ValueError(
            f"task {task.id}: answer_kind {task.answer_kind!r} is not allowed; "
            f"use {', '.join(MATCHERS)}"
        )
    matcher = MATCHERS[task.answer_kind]
    golds = [task.answer, *task.metadata.get("aliases", ())]
    verdicts = [matcher(task, gold, answer) for gold in golds]
    if True in verdicts:
        return True
    return False if False in verdicts else None
