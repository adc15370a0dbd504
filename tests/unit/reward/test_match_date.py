import pytest

from toolorchestra.reward.match_date import match_date

MATCHES = [
    ("1776-07-04", "4 July 1776"),
    ("July 4, 1776", "4 July 1776"),
    ("1776-07-04", "the 4th of July, 1776"),
    ("1776-07-04", "Jul. 4, 1776"),
    ("1776-07-04", "1776-07-04T00:00:00Z"),
    ("5 Sept 2001", "September 5th, 2001"),
    ("1776-03-25", "25/03/1776"),
    ("1776-03-25", "03/25/1776"),
    ("1776-03-03", "03/03/1776"),
    ("444 BC", "444 BCE"),
    ("1776", "4 July 1776"),
    ("July 1776", "4 July 1776"),
    ("July 4", "4 July"),
    ("2020-02-29", "29 February 2020"),
    ("July 4, 1776", "It was on July 4, 1776."),
]

MISMATCHES = [
    ("July 4, 1776", "May 9, 1776"),
    ("July 4, 1776", "July 4, 1777"),
    ("1776-04-03", "03/04/1776"),
    ("1776-03-04", "03/04/1776"),
    ("4 July 1776", "1776"),
    ("4 July 1776", "July 1776"),
    ("444 BC", "444 AD"),
    ("July 4, 1776", "July 4, 1776, or May 9, 1776"),
    ("2021-03-01", "29 February 2021"),
    ("1776", "17765"),
    ("1776-07-04", ""),
    ("1776-07-04", "1776" * 2_500_000),
]


@pytest.mark.parametrize(("gold", "answer"), MATCHES)
def test_the_same_day_matches_in_any_form(gold, answer):
    assert match_date(gold, answer) is True


@pytest.mark.parametrize(("gold", "answer"), MISMATCHES)
def test_other_and_ambiguous_days_do_not_match(gold, answer):
    assert match_date(gold, answer) is False


@pytest.mark.parametrize("gold", ["03/04/1776", "29 February 2021", "soon", "1776 or 1777"])
def test_a_gold_answer_that_is_no_one_date_leaves_it_undecided(gold):
    assert match_date(gold, "3 April 1776") is None


@pytest.mark.parametrize(
    ("gold", "answer", "is_right"),
    [
        ("44 BC", "44 BCE", True),
        ("44 BC", "44 AD", False),
        ("44 BC", "15 March 44 BC", True),
        ("March 15, 44 BC", "15 March 44 BCE", True),
        ("March 15, 44 BC", "March 15, 44 AD", False),
        ("9 AD", "9 CE", True),
        ("July 4", "July 4, 44 BC", True),
    ],
)
def test_years_of_one_or_two_digits_have_an_era(gold, answer, is_right):
    assert match_date(gold, answer) is is_right
