import pytest

from toolorchestra.reward.match_list import match_list, match_set, split_items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("[1,2,3]", ["1", "2", "3"]),
        ("1,234, 5", ["1,234", "5"]),
        ("red, blue, and green", ["red", "blue", "green"]),
        ("red; blue, dark; green", ["red", "blue, dark", "green"]),
        ("- red\n- blue", ["red", "blue"]),
        ("1. red\n2. blue", ["red", "blue"]),
        (r"\{1, 2\}", ["1", "2"]),
        ("['a', 'b']", ["a", "b"]),
        ("", []),
    ],
)
def test_items_are_told_apart(text, items):
    assert split_items(text) == items


@pytest.mark.parametrize(
    ("gold", "answer", "is_list", "is_set"),
    [
        ("1, 2, 3", "[1,2,3]", True, True),
        ("1, 2, 3", "3, 2, 1", False, True),
        ("{1,2,3}", "Answer: {3, 2, 1}", False, True),
        ("1, 2", "1, 2, 3", False, False),
        ("1, 2, 3", "1, 2", False, False),
        ("1, 2", "1, 2, 2", False, True),
        ("1,234, 5", "1234, 5", True, True),
        ("11, 5", "711, 5", False, False),
        ("red, blue", "Blue and red", False, True),
        ("red, blue", "", False, False),
        ("red, blue", "x," * 5_000_000, False, False),
    ],
)
def test_order_matters_to_lists_and_not_to_sets(gold, answer, is_list, is_set):
    assert match_list(gold, answer) is is_list
    assert match_set(gold, answer) is is_set


def test_a_gold_answer_without_items_leaves_it_undecided():
    assert match_list("", "1") is None
    assert match_set("[]", "1") is None
