import pytest
from tests.unit.judge.stand_in import task

from toolorchestra.judge.base import Judged
from toolorchestra.judge.match import MATCHER
from toolorchestra.reward.outcome import judge_answer


@pytest.mark.parametrize(
    ("kind", "gold", "answer"),
    [
        ("text", "Paris", "It is Paris."),
        ("text", "Paris", "Rome"),
        ("text", "Paris", None),
        ("number", "many", "72"),
        ("math", "x^2", "x \\cdot x"),
        ("math", "x^2", "x^3"),
    ],
)
async def test_the_matchers_word_is_the_verdict_and_nothing_is_paid(kind, gold, answer):
    given = task(kind, gold)
    judged = await MATCHER.judge(given, answer, turn=0)
    assert judged == Judged(verdict=judge_answer(given, answer), bill=None)
    await MATCHER.close()


async def test_an_unknown_kind_is_an_error():
    with pytest.raises(ValueError, match="answer_kind 'essay' is not allowed"):
        await MATCHER.judge(task("essay"), "x", turn=0)
