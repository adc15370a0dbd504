import random
import re
import subprocess
import sys
import time

import pytest

from toolorchestra.dataset.gym import GYM_FAMILIES, gym_dataset, gym_families
from toolorchestra.reward.match_reasoning_gym import match_reasoning_gym


def drafts_of(name, count):
    rng = random.Random(name)
    draw = gym_families(GYM_FAMILIES[name].skill)[name]
    return [draw(rng) for _ in range(count)]


def test_math_and_logic_have_at_least_four_families_each():
    assert len(gym_families("math")) >= 4
    assert len(gym_families("logic")) >= 4


@pytest.mark.parametrize("name", list(GYM_FAMILIES))
def test_questions_are_short_and_answers_short_and_many(name):
    drafts = drafts_of(name, 500)
    assert max(len(draft.question) for draft in drafts) < 120
    assert max(len(draft.answer) for draft in drafts) <= 12
    assert len({draft.answer for draft in drafts}) >= 50


@pytest.mark.parametrize("name", list(GYM_FAMILIES))
def test_the_package_gives_its_own_answers_full_marks(name):
    for draft in drafts_of(name, 30):
        entry = draft.metadata["entry"]
        assert gym_dataset(name).score_answer(draft.answer, entry) == 1.0
        assert match_reasoning_gym(draft.metadata, f"The answer is {draft.answer}.") is True


@pytest.mark.parametrize("name", list(GYM_FAMILIES))
def test_no_single_draw_is_slow(name):
    rng = random.Random(name)
    draw = gym_families(GYM_FAMILIES[name].skill)[name]
    draw(rng)
    slowest_s = 0.0
    for _ in range(1000):
        start = time.process_time()
        draw(rng)
        slowest_s = max(slowest_s, time.process_time() - start)
    assert slowest_s < 0.25  # typical draws take 0.0001


def test_a_question_put_briefly_keeps_every_figure_of_the_entry():
    for name in ("chain_sum", "products", "lcm", "number_sequence", "leg_counting"):
        for draft in drafts_of(name, 20):
            asked = draft.metadata["entry"]["question"].rpartition("total if")[2]
            figures = re.findall(r"\d+", asked)
            assert figures and figures == re.findall(r"\d+", draft.question)


def test_the_package_is_not_imported_before_a_task_is_drawn():
    code = "import toolorchestra.dataset.local, sys; sys.exit('reasoning_gym' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
