import pytest

from toolorchestra.dataset.answer_form import form_of, options_of
from toolorchestra.reward.match import match_answer
from toolorchestra.types import Task

CHOICE = "Which is a city?\nA. Paris\nB. Loire\nC. Mont Blanc"

CHECKABLE = [
    ("42", "number", "41"),
    ("-1,234.5", "number", "1234.5"),
    ("$19.99", "number", "20"),
    ("3/4", "number", "4/3"),
    ("12%", "number", "13%"),
    ("$42$", "number", "43"),
    ("5 km/h", "number", "6 km/h"),
    ("12kg", "number", "13 kg"),
    ("6.02e23", "number", "6.02e22"),
    (r"\boxed{17}", "number", "18"),
    ("**Yes**", "yes_no", "no"),
    ("False.", "yes_no", "true"),
    ("4 July 1776", "date", "4 July 1777"),
    ("July 4, 1776", "date", "5 July 1776"),
    ("1969-07-20", "date", "1969-07-21"),
    ("Ada Lovelace", "text", "Grace Hopper"),
    ("the 20th century", "text", "the 19th century"),
    ("Paris, France", "text", "Lyon, France"),
    ("red, green, blue", "list", "red, green"),
    ("1, 2", "list", "2, 1"),
    ("[4, 5, 6]", "list", "[4, 6, 5]"),
    ("{4, 5, 6}", "set", "{4, 5, 7}"),
    ("(3, 4)", "math", "(4, 3)"),
    (r"$\frac{x^2}{2}$", "math", r"$\frac{x^2}{3}$"),
    ("x^2 + 1", "math", "x^2 - 1"),
    (r"$\sin(x)$", "math", r"$\cos(x)$"),
]


@pytest.mark.parametrize(("gold", "kind", "wrong"), CHECKABLE)
def test_the_matcher_of_the_kind_found_knows_right_from_wrong(gold, kind, wrong):
    form = form_of("What is it?", gold)
    assert form is not None and form.kind == kind
    task = Task(id="t", skill="s", question="?", answer=form.answer, answer_kind=form.kind)
    assert match_answer(task, gold) is True
    assert match_answer(task, f"Answer: {form.answer}") is True
    assert match_answer(task, wrong) is False


@pytest.mark.parametrize("gold", ["B", "(B)", "B.", "**B**", "B. Loire", "(B) Loire", "Loire"])
def test_an_option_is_a_letter_however_it_is_given(gold):
    form = form_of(CHOICE, gold)
    assert form is not None
    assert (form.kind, form.answer) == ("choice", "B")
    assert form.options == ("Paris", "Loire", "Mont Blanc")


def test_a_letter_that_is_no_option_is_a_text():
    for question in (CHOICE, "Which vitamin cures scurvy?"):
        form = form_of(question, "D")
        assert form is not None and form.kind == "text"


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Pick: (A) one (B) two", ("one", "two")),
        ("Vitamin A. is found in A) milk B) stones", ("milk", "stones")),
        ("A) one C) three", ()),
        ("Only A. one", ()),
        ("Says J. R. R. Tolkien so?", ()),
    ],
)
def test_options_are_read_where_they_run_from_a_on(question, options):
    assert options_of(question) == options


@pytest.mark.parametrize(
    "gold",
    [
        "",
        " \n",
        "...",
        "The law says that energy is never lost, only turned into other forms.",
        "First, mix the flour.\nThen bake it.",
        "The area is $5$ and so the side must be known",
        "$" + "x+" * 200 + "x$",
        "a sentence of many words, another sentence of many words, and yet another",
    ],
)
def test_what_no_matcher_could_recognise_has_no_form(gold):
    assert form_of("Why?", gold) is None
