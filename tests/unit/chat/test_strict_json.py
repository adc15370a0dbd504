import pytest

from toolorchestra.chat.strict_json import MAX_DEPTH, as_arguments, scan


def test_a_value_is_read_where_it_starts_and_its_end_is_told():
    scanned = scan('ab {"q": [1, 2.5]} tail', 3)
    assert scanned.value == {"q": [1, 2.5]}
    assert (scanned.end, scanned.fault, scanned.is_decoded) == (18, "", True)


def test_the_end_of_a_value_with_a_bad_number_is_still_told():
    scanned = scan('{"q": NaN} tail', 0)
    assert scanned.is_decoded and scanned.end == 10 and scanned.value is None


@pytest.mark.parametrize("text", ['{"q": 1', '{"q": "a', "[1,", ""])
def test_a_text_that_ends_too_early_is_called_cut(text):
    assert scan(text, 0).is_cut


@pytest.mark.parametrize("text", ["{'q': 1}", '{"q" 1}', "[1 2]"])
def test_a_malformed_text_is_not_called_cut(text):
    assert scan(text, 0).fault and not scan(text, 0).is_cut


@pytest.mark.parametrize(("depth", "is_fit"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
def test_nesting_is_allowed_up_to_the_limit(depth, is_fit):
    assert (scan("[" * depth + "]" * depth, 0).fault == "") is is_fit


@pytest.mark.parametrize("value", [None, "", " ", "{}", " {} ", {}])
def test_nothing_given_means_no_arguments(value):
    assert as_arguments(value) == {}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1], "a list"),
        (3, "a number"),
        (2.5, "a number"),
        (True, "a boolean"),
        ('"x"', "a string"),
        ("{", "not valid JSON"),
        ("{}{}", "extra data"),
    ],
)
def test_anything_else_that_is_no_object_is_refused_by_kind(value, said):
    with pytest.raises(ValueError, match=said):
        as_arguments(value)
