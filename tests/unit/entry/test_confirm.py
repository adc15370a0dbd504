import pytest

from toolorchestra.entry.confirm import confirm


def asked(usd, *, answer=None, is_agreed=False):
    heard = []

    def ask(question):
        heard.append(question)
        return answer

    confirm(usd, above_usd=5.0, is_agreed=is_agreed, ask=None if answer is None else ask)
    return heard


@pytest.mark.parametrize(("usd", "options"), [(5.0, {}), (0.0, {}), (50.0, {"is_agreed": True})])
def test_nobody_is_asked_for_little_or_for_what_was_agreed_to_before(usd, options):
    assert asked(usd, **options) == asked(usd, answer="n", **options) == []


@pytest.mark.parametrize("answer", ["y", "YES", " y "])
def test_who_says_yes_goes_on(answer):
    assert asked(5.01, answer=answer) == ["About $5.01 are likely to be paid. Go on? [y/N] "]


@pytest.mark.parametrize("answer", ["", "n", "yess", "no"])
def test_any_other_answer_ends_it_before_anything_is_paid(answer):
    with pytest.raises(ValueError, match="not agreed to, and nothing was paid"):
        asked(6.0, answer=answer)


def test_where_nobody_can_be_asked_the_sentence_says_what_to_set():
    with pytest.raises(ValueError, match=r"about \$6.00 .* more than \$5.00.*use yes=true"):
        asked(6.0)
