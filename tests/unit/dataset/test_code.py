import contextlib
import io
import random

import pytest

from toolorchestra.dataset.code import CODE_FAMILIES


@pytest.mark.parametrize("name", list(CODE_FAMILIES))
def test_each_program_prints_its_answer(name):
    rng = random.Random(name)
    for _ in range(100):
        draft = CODE_FAMILIES[name](rng)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(draft.question, {})
        assert printed.getvalue() == draft.answer + "\n"


@pytest.mark.parametrize("name", list(CODE_FAMILIES))
def test_programs_are_short_and_their_answers_many(name):
    rng = random.Random(name)
    drafts = [CODE_FAMILIES[name](rng) for _ in range(1000)]
    assert max(len(draft.question) for draft in drafts) < 120
    assert max(draft.question.count("\n") for draft in drafts) <= 5
    assert len({draft.answer for draft in drafts}) >= 50
