import pytest

from toolorchestra.reward.match_choice import match_choice

MATCHES = [
    ("B", "B"),
    ("B", "b"),
    ("B", "(B)"),
    ("(B)", "B"),
    ("B", "B."),
    ("B", "B) Paris"),
    ("B", "B: the capital"),
    ("B", "**B**"),
    ("B", "The answer is B"),
    ("B", "The answer is (B)."),
    ("B", "Option b"),
    ("B", "I think it's B"),
    ("B", r"$\boxed{\text{(B)}}$"),
    ("B", "It is not A but B"),
    ("A", "A"),
    ("A", "The answer is A"),
]

MISMATCHES = [
    ("B", "C"),
    ("B", "not B"),
    ("B", "It is not B"),
    ("B", "not option B"),
    ("A", "A and C"),
    ("C", "A and C"),
    ("B", "B or C"),
    ("A", "A dog barked"),
    ("I", "I think it's B"),
    ("B", "banana"),
    ("B", ""),
    ("B", "x" * 10_000_000),
]


@pytest.mark.parametrize(("gold", "answer"), MATCHES)
def test_the_letter_matches_in_any_dress(gold, answer):
    assert match_choice(gold, answer) is True


@pytest.mark.parametrize(("gold", "answer"), MISMATCHES)
def test_other_letters_denials_and_several_letters_do_not_match(gold, answer):
    assert match_choice(gold, answer) is False


def test_the_words_of_an_option_stand_for_its_letter():
    options = ["London", "Paris"]
    assert match_choice("B", "paris", options=options) is True
    assert match_choice("A", "Paris", options=options) is False
    assert match_choice("B", "B. Paris", options=options) is True


def test_a_gold_answer_that_is_no_letter_leaves_it_undecided():
    assert match_choice("Paris", "B") is None


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("I choose C because B is wrong.", True),
        ("C; (B) is not right", True),
        ("B isn't wrong, C", False),
        ("C is wrong", False),
        ("C is right", True),
    ],
)
def test_a_letter_that_is_called_wrong_is_not_picked(answer, is_right):
    assert match_choice("C", answer) is is_right


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [("The city of Paris", True), ("It is Rome.", False), ("Paris or Rome", False)],
)
def test_an_options_words_count_in_a_short_sentence(answer, is_right):
    options = ("Rome", "Paris", "Berlin")
    assert match_choice("B", answer, options=options) is is_right
