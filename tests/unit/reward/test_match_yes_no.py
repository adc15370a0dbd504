import pytest

from toolorchestra.reward.match_yes_no import match_yes_no


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("yes", "Yes.", True),
        ("yes", "True", True),
        ("yes", "Yes, because no other way exists", True),
        ("no", "No", True),
        ("no", "It is not true", True),
        ("no", "It isn\u2019t correct", True),
        ("yes", "The answer is yes", True),
        ("no", "yes", False),
        ("yes", "It is not true", False),
        ("yes", "yes and no", False),
        ("no", "yes or no", False),
        ("yes", "maybe yes", False),
        ("yes", "yesterday", False),
        ("no", "nothing is known", False),
        ("yes", "", False),
        ("yes", "x" * 10_000_000, False),
        ("maybe", "yes", None),
    ],
)
def test_whole_words_decide_and_hedges_do_not(gold, answer, expected):
    assert match_yes_no(gold, answer) is expected
