import pytest

from toolorchestra.reward.outcome import judge_answer
from toolorchestra.types import Task, Verdict


def task(kind="number", answer="72"):
    return Task(id="t", skill="math", question="70 + 2?", answer=answer, answer_kind=kind)


def test_a_right_answer_is_solved_and_says_who_decided():
    assert judge_answer(task(), "It is 72.") == Verdict(is_solved=True, decided_by="match:number")


def test_a_wrong_answer_is_not_solved():
    assert judge_answer(task(), "73") == Verdict(is_solved=False, decided_by="match:number")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(None, "no answer was given"), ("", "the answer is empty"), (" \n", "the answer is empty")],
)
def test_no_answer_is_not_solved(answer, reason):
    verdict = judge_answer(task(), answer)
    assert verdict == Verdict(is_solved=False, decided_by="match:number", reason=reason)


def test_what_cannot_be_decided_is_unscored_and_never_wrong():
    verdict = judge_answer(task(answer="many"), "72")
    assert verdict.is_solved is None
    assert verdict.reason == "cannot be decided as number"


def test_reasoning_gym_is_named_where_its_verifier_decides():
    assert judge_answer(task(kind="reasoning_gym"), "72").decided_by == "reasoning_gym"
