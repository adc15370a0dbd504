import pytest
from tests.unit.judge.stand_in import make_config

from toolorchestra.judge.config import JudgeConfig, JudgeSamplingConfig


def test_the_default_asks_nobody():
    assert JudgeConfig().kind == "match"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "oracle"}, "judge.kind: 'oracle' is not allowed; use match or llm"),
        ({"model": " "}, "judge.model"),
        ({"asks": {}}, "judge.asks"),
        ({"asks": {"text": "never"}}, "judge.asks"),
        ({"asks": {"essay": "wrong"}}, "judge.asks: 'essay'"),
        ({"asks": {"text": "always"}}, "judge.asks.text: 'always'"),
        ({"system": ""}, "judge.system"),
        ({"user": "{question} {gold}"}, "judge.user: a prompt with 0 {answer}"),
        ({"user": "{question} {gold} {answer} {answer}"}, "judge.user: a prompt with 2 {answer}"),
        ({"max_words": -1}, "judge.max_words: -1"),
        ({"max_concurrent": 0}, "judge.max_concurrent: 0"),
        ({"unscored_window": 0}, "judge.unscored_window: 0"),
        ({"deadline_s": 0}, "judge.deadline_s: 0"),
        ({"deadline_s": float("nan")}, "judge.deadline_s: nan"),
        ({"max_unscored_share": 1.5}, "judge.max_unscored_share: 1.5"),
        ({"max_unscored_share": float("nan")}, "judge.max_unscored_share: nan"),
    ],
)
def test_what_cannot_be_meant_is_refused(changes, message):
    with pytest.raises(ValueError) as caught:
        make_config(**changes)
    assert message in str(caught.value) and "is not allowed; use" in str(caught.value)


@pytest.mark.parametrize("changes", [{"max_tokens": 0}, {"temperature": -1.0}])
def test_sampling_is_checked(changes):
    with pytest.raises(ValueError, match=r"judge.sampling.\w+: .* is not allowed; use"):
        JudgeSamplingConfig(**changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"asks": {"text": "undecided", "list": "wrong"}}, False),
        ({"asks": {"list": "wrong"}}, False),
        ({"kind": "match"}, False),
    ],
)
def test_free_texts_are_judged_where_a_model_is_asked_about_wrong_ones(changes, expected):
    assert make_config(**({"asks": {"text": "wrong"}} | changes)).judges_free_text is expected
