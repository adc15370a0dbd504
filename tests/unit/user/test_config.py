import pytest
from tests.composed import options_of

from toolorchestra.tool.expert_config import AnswerLimits
from toolorchestra.user.config import UserConfig

SYSTEM = "{instruction} {scenario} {functions}"


def test_nobody_plays_the_user_by_default():
    assert options_of().user == UserConfig()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "human"}, r"user\.kind: 'human' is not allowed; use none or scripted or llm"),
        ({"patience": 0}, r"user\.patience: 0 is not allowed; use a whole number from 1"),
        ({"max_calls": -1}, r"user\.max_calls: -1 is not allowed; use a whole number from 0"),
        ({"max_chars": 0}, r"user\.max_chars: 0 is not allowed"),
        ({"deadline_s": 0.0}, r"user\.deadline_s: 0\.0 is not allowed; use seconds above 0"),
        ({"deadline_s": float("nan")}, r"user\.deadline_s: nan"),
        ({"deadline_s": float("inf")}, r"user\.deadline_s: inf"),
        ({"limits": AnswerLimits(max_tokens=0)}, r"user\.limits\.max_tokens: 0 is not allowed"),
        ({"limits": AnswerLimits(temperature=9)}, r"user\.limits\.temperature: 9 is not allowed"),
        ({"kind": "llm", "system": SYSTEM}, r"user\.model: '' is not allowed; use the name"),
        ({"kind": "llm", "model": "m"}, r"user\.system: a prompt with 0 {instruction} is not"),
        (
            {"kind": "llm", "model": "m", "system": SYSTEM + "{scenario}"},
            r"user\.system: a prompt with 2 {scenario} is not allowed; use one",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_by_key_and_value(changes, message):
    with pytest.raises(ValueError, match=message):
        UserConfig(**changes)


def test_a_model_that_plays_the_user_is_told_all_it_needs():
    config = options_of("user=llm").user
    assert (config.kind, config.model) == ("llm", "GPT-5-mini")
    assert '"is_done"' in config.system
