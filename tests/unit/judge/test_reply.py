import pytest

from toolorchestra.judge.reply import read_reply


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"reasoning": "It is incorrect.", "verdict": "correct"}', "correct"),
        ('{"reasoning": "Correct!", "verdict": "incorrect"}', "incorrect"),
        ('{"verdict": "NOT_ATTEMPTED"}', "not_attempted"),
        ('<think>{"verdict": "correct"}</think>{"verdict": "incorrect"}', "incorrect"),
        ('```json\n{"verdict": "correct", "reasoning": ""}\n```', "correct"),
        ("Judgement: CORRECT", "correct"),
        ("**Verdict:** not_attempted", "incorrect"),
        ("The answer is right.\nINCORRECT", "incorrect"),
    ],
)
def test_a_reply_is_read(text, verdict):
    assert read_reply(text).verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "<think>correct",
        # broken JSON: its reasoning must not be taken for its verdict
        '{"reasoning": "The answer is correct in that',
        '{"reasoning": "correct", "verdict": "inc',
        '{"reasoning": "correct"}',
        '{"verdict": "maybe", "reasoning": "correct"}',
        '{"verdict": true, "reasoning": "correct"}',
        '{"verdict": "correct", "verdict": "incorrect"}',
        '[{"verdict": "correct"}]',
        'Both {"verdict": "correct"} and {"verdict": "incorrect"} fit.',
        "correct or incorrect, who knows",
        '{"a":' * 100_000,
    ],
)
def test_what_cannot_be_read_is_no_verdict(text):
    assert read_reply(text) is None


def test_the_reasoning_is_kept():
    assert read_reply('{"reasoning": "Same city.", "verdict": "correct"}').reasoning == "Same city."
    assert read_reply('{"reasoning": 5, "verdict": "correct"}').reasoning == ""
