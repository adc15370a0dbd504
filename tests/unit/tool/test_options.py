import pytest

from toolorchestra.tool.function_config import FunctionConfig
from toolorchestra.tool.options import parse_options
from toolorchestra.tool.search_config import SearchConfig


def test_absent_options_take_their_defaults():
    assert parse_options(SearchConfig, {"top_k": 2}, tool="s") == SearchConfig(top_k=2)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (SearchConfig, {"topk": 2}, r"tool\.s\.options: 'topk' is not allowed; use corpus, ind"),
        (SearchConfig, {"top_k": "2"}, r"tool\.s\.options\.top_k: '2' is not allowed; use a int"),
        (SearchConfig, {"top_k": True}, r"tool\.s\.options\.top_k: True is not allowed"),
        (SearchConfig, {"top_k": 0}, "top_k: 0 is not allowed"),
        (FunctionConfig, {"domain": "parcels"}, r"tool\.s\.options\.function is missing"),
    ],
)
def test_bad_options_are_refused_naming_the_tool_and_the_key(kind, options, message):
    with pytest.raises(ValueError, match=message):
        parse_options(kind, options, tool="s")


def test_a_whole_number_is_a_number():
    assert parse_options(SearchConfig, {"min_score": 0}, tool="s").min_score == 0


@pytest.mark.parametrize(
    ("key", "value"), [("min_score", "high"), ("index", 3), ("min_score", True)]
)
def test_an_option_that_may_be_absent_has_a_type_all_the_same(key, value):
    assert getattr(parse_options(SearchConfig, {key: None}, tool="s"), key) is None
    with pytest.raises(ValueError, match=rf"tool\.s\.options\.{key}: {value!r} is not allowed"):
        parse_options(SearchConfig, {key: value}, tool="s")
