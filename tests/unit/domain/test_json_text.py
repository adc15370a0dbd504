import pytest

from toolorchestra.domain.json_text import read_json


def test_json_is_read():
    assert read_json('{"a": [1, "\\ud83d\\ude00", "\\\\ud8"]}') == {"a": [1, "😀", "\\ud8"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        ("NaN", "NaN is no JSON"),
        ("[-Infinity]", "-Infinity is no JSON"),
        ('{"a": 1, "b": 2, "a": 3}', "the name 'a' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": "\\ud83d"}', "half a character"),
        ('["\\uDE00"]', "half a character"),
        ("1" * 5000, "4300 digits"),
    ],
)
def test_what_is_no_strict_json_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        read_json(text)
