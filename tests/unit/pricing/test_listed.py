import pytest
from tests.composed import options_of

from toolorchestra.pricing.listed import listed_price
from toolorchestra.worlds import check_worlds


def test_the_price_is_that_of_the_models_name():
    price = listed_price(options_of().pricing, "GPT-5-mini", wanted_by="judge.model")
    assert (price.usd_per_input_mtok, price.usd_per_output_mtok) == (0.25, 2.0)


@pytest.mark.parametrize(
    "overrides",
    [
        ("judge.model=gpt-6",),
        ("judge.model=DeepSeek-Math-7b-Instruct",),
        ("pricing=alt", "pricing.missing=mask"),
    ],
)
def test_a_judge_without_a_price_is_refused_before_anything_starts(overrides, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "set")
    with pytest.raises(ValueError, match="; use ") as caught:
        check_worlds(options_of("judge=llm", *overrides))
    assert "GPT-5" in str(caught.value) or overrides[0].partition("=")[2] in str(caught.value)


def test_a_judge_that_nobody_serves_or_without_a_key_is_refused(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "set")
    check_worlds(options_of("judge=llm"))
    with pytest.raises(ValueError, match="none serves 'o3', which judge.model needs"):
        check_worlds(options_of("judge=llm", "judge.model=o3"))
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ValueError, match="OPENAI_API_KEY is not set, and judge.model needs it"):
        check_worlds(options_of("judge=llm"))


def test_matchers_need_neither_price_nor_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    check_worlds(options_of("judge=match"))
