"""The matchers that are compared. Each says yes, no, or None where it cannot decide."""

from __future__ import annotations

from collections.abc import Callable

from math_verify import parse, verify

from benchmarks.matching.cases import Case
from toolorchestra.reward.match import match_answer

Matcher = Callable[[Case], bool | None]


def ours(case: Case) -> bool | None:
    """The matcher of the task's `answer_kind`."""
    return match_answer(case.task, case.given)


def bare_math_verify(case: Case) -> bool:
    """math-verify with its defaults, on the texts as they are and no aliases but the best."""
    golds = [case.task.answer, *case.task.metadata.get("aliases", ())]
    return any(bool(verify(parse(gold), parse(case.given))) for gold in golds)


def exact(case: Case) -> bool:
    """Equal strings, whatever case and outer space (as in the paper's code)."""
    golds = [case.task.answer, *case.task.metadata.get("aliases", ())]
    return case.given.strip().lower() in {gold.strip().lower() for gold in golds}


MATCHERS: dict[str, Matcher] = {"ours": ours, "math-verify": bare_math_verify, "exact": exact}
