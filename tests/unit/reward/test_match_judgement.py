import pytest

from toolorchestra.reward.match_judgement import parse_judgement

CORRECT = [
    "Correct",
    "CORRECT",
    "The response is correct.",
    "correct: yes",
    "Judgement: TRUE",
    "**Decision:** TRUE",
    '"TRUE"',
    "yes",
    "<think>It looked incorrect.</think> CORRECT",
    "Reasoning: it looked incorrect at first\nJudgement: CORRECT",
    "Incorrect? The digits differ, but the values are equal.\nCORRECT",
]

INCORRECT = [
    "INCORRECT",
    "incorrect.",
    "In-correct",
    "not correct",
    "It isn't correct",
    "It is not fully correct",
    "Wrong",
    "correct: no",
    "Judgement: FALSE",
    "NOT_ATTEMPTED",
    "Incorrect, because the correct answer is 5",
]

UNREADABLE = [
    "",
    "banana",
    "<think>The answer is correct, since",
    "It is correct and incorrect",
    "not incorrect",
    "correctness",
    "uncorrected",
    "correct: yes\ncorrect: no",
]


@pytest.mark.parametrize("reply", CORRECT)
def test_a_reply_of_correct_is_true(reply):
    assert parse_judgement(reply) is True


@pytest.mark.parametrize("reply", INCORRECT)
def test_a_reply_of_incorrect_is_false(reply):
    assert parse_judgement(reply) is False


@pytest.mark.parametrize("reply", UNREADABLE)
def test_a_reply_that_cannot_be_read_is_none_and_never_wrong(reply):
    assert parse_judgement(reply) is None


@pytest.mark.parametrize("reply", ["Verdict: NOT_ATTEMPTED", "**Grade:** not attempted"])
def test_a_labelled_not_attempted_is_not_correct(reply):
    assert parse_judgement(reply) is not True


def test_a_verdict_of_not_attempted_is_read():
    assert parse_judgement("Verdict: NOT_ATTEMPTED") is False
