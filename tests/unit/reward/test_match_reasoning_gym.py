import pytest

from toolorchestra.dataset.local import local_task
from toolorchestra.reward.match_reasoning_gym import match_reasoning_gym

METADATA = {
    "family": "chain_sum",
    "answer_kind": "number",
    "entry": {"question": "State ... 70 + 2 =", "answer": "72"},
}


@pytest.mark.parametrize("answer", ["72", "072", "72.0", "It is 72, in total.", r"\boxed{72}"])
def test_what_the_family_or_the_matcher_accepts_is_right(answer):
    assert match_reasoning_gym(METADATA, answer) is True


@pytest.mark.parametrize("answer", ["73", "172", "-72", "72 or 73", "7 2", "72" * 9, "not 72", ""])
def test_partial_credit_is_wrong(answer):
    assert match_reasoning_gym(METADATA, answer) is False


@pytest.mark.parametrize(
    "metadata", [{}, METADATA | {"family": "puzzle24"}, METADATA | {"entry": None}]
)
def test_an_unknown_family_or_a_lost_entry_leaves_it_undecided(metadata):
    assert match_reasoning_gym(metadata, "72") is None


@pytest.mark.parametrize("num_letters", range(2, 12))
def test_a_right_word_with_a_letter_too_many_is_wrong(num_letters):
    word = "abcdefghijkl"[:num_letters]  # partial credit sums n times 1/n: 0.9999999 for n = 6
    metadata = {"family": "spell_backward", "answer_kind": "text", "entry": {"answer": word}}
    assert match_reasoning_gym(metadata, word) is True
    assert match_reasoning_gym(metadata, word + "x") is False


def test_a_word_spelt_backward_must_be_whole():
    task = next(
        task
        for index in range(100)
        if (task := local_task(index, seed=0, split="train", skills={"logic": 1.0})).metadata[
            "family"
        ]
        == "spell_backward"
    )
    match = match_reasoning_gym
    assert match(task.metadata, task.answer.upper(), question=task.question) is True
    assert match(task.metadata, task.answer[:-1], question=task.question) is False
    assert match(task.metadata, task.answer[::-1], question=task.question) is False
