import time

import pytest

from toolorchestra.reward.match_extract import final_answer


@pytest.mark.parametrize(
    ("text", "expected", "is_marked"),
    [
        ("72", "72", False),
        ("  **72**. ", "72", False),
        ("$72$", "72", False),
        ("`72`", "72", False),
        ("Answer: 72", "72", True),
        ("**Answer:** 72", "72", True),
        ("**Final answer**: 72", "72", True),
        ("The answer is 72.", "72", True),
        ("the correct answer is: 72", "72", True),
        ("Answer: 71\nWait.\nAnswer: 72\nDone.", "72", True),
        (r"so \boxed{72}", "72", True),
        (r"\boxed{71} no, \boxed{72}", "72", True),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", True),
        (r"\boxed{\text{Paris}}", "Paris", True),
        (r"The answer is $\boxed{72}$.", "72", True),
        (r"\boxed{72}. Answer: 73", "73", True),
        (r"Answer: 73, or rather \boxed{72}", "72", True),
        (r"\boxed{72", r"\boxed{72", False),
        ("Answer:", "Answer:", False),
        ("The answering machine: 5", "The answering machine: 5", False),
        ("<think>Answer: 71</think>72", "72", False),
        ("thought</think>72", "72", False),
        ("<think>72", "", False),
        ("", "", False),
        (".", ".", False),
        ("1\u00a0234 \u2212 5", "1 234 - 5", False),
        ("10\u2076", "10^6", False),
    ],
)
def test_the_last_marked_answer_wins(text, expected, is_marked):
    final = final_answer(text)
    assert (final.text, final.is_marked) == (expected, is_marked)


@pytest.mark.parametrize(
    "piece", ["x", r"\boxed{", "Answer: ", "<think>", "</think>", "1 ", "{", "**", "\n", "\\text{"]
)
def test_ten_megabytes_cost_seconds_not_hours(piece):
    text = piece * (10_000_000 // len(piece))
    start_s = time.thread_time()  # whatever else the machine does
    final_answer(text)
    assert time.thread_time() - start_s < 20


def test_the_end_of_a_huge_answer_is_read():
    assert final_answer("x " * 5_000_000 + "\nAnswer: 72").text == "72"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\boxed{1}, \boxed{2}", "1, 2"),
        (r"\boxed{1} and \boxed{2} and \boxed{3}", "1, 2, 3"),
        (r"$\boxed{1}$ or $\boxed{2}$", "1, 2"),
        (r"\[ \boxed{-2} \quad \text{and} \quad \boxed{1}. \]", "-2, 1"),
        (r"\boxed{5}, \boxed{5}", "5"),
        # what lies between is no joint: the last box wins
        (r"\boxed{71} \boxed{72}", "72"),
        (r"\boxed{4}, no, \boxed{5}", "5"),
        (r"\boxed{1}, \boxed{2}. Wait: \boxed{3}", "3"),
    ],
)
def test_boxes_in_a_row_are_one_answer(text, expected):
    assert final_answer(text).text == expected


def test_many_boxes_cost_little_time():
    start_s = time.thread_time()
    final_answer(r"\boxed{1}, " * 900)
    assert time.thread_time() - start_s < 20
