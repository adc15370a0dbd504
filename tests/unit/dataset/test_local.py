import subprocess
import sys
import time

import pytest

from toolorchestra.codec import from_json, to_json
from toolorchestra.dataset.config import SKILLS
from toolorchestra.dataset.local import FAMILIES, local_task
from toolorchestra.dataset.split import side_of
from toolorchestra.reward.outcome import judge_answer
from toolorchestra.types import Task

ALL = dict.fromkeys(SKILLS, 1.0)


def tasks_of(skill, split, count, seed=0):
    return [local_task(i, seed=seed, split=split, skills={skill: 1.0}) for i in range(count)]


def subject_of(task):
    """What a task is about: the parcel's number, the entity, or the whole question."""
    words = task.question.replace("?", "").replace(":", "").replace(".", "").split()
    if task.skill == "service":
        return next(word for word in words if word[0] == "P" and word[1:].isdigit())
    return task.question


def test_every_skill_has_families():
    assert set(FAMILIES) == set(SKILLS)
    assert all(FAMILIES.values())


def test_a_task_is_a_function_of_its_arguments():
    first = [local_task(i, seed=4, split="train", skills=ALL) for i in range(30)]
    again = [local_task(i, seed=4, split="train", skills=ALL) for i in reversed(range(30))]
    assert first == again[::-1]
    assert first != [local_task(i, seed=5, split="train", skills=ALL) for i in range(30)]


def test_the_order_of_skills_in_a_config_changes_nothing():
    turned = dict(reversed(ALL.items()))
    for i in range(20):
        assert local_task(i, seed=0, split="train", skills=ALL) == local_task(
            i, seed=0, split="train", skills=turned
        )


def test_another_process_draws_the_same_tasks():
    code = (
        "from toolorchestra.dataset.local import local_task as t\n"
        "s = dict.fromkeys(['math', 'logic', 'code', 'lookup', 'multihop', 'service'], 1.0)\n"
        "print([t(i, seed=1, split='heldout', skills=s).question for i in range(20)])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = [local_task(i, seed=1, split="heldout", skills=ALL).question for i in range(20)]
    assert run.stdout.strip() == str(here)


@pytest.mark.parametrize("skill", SKILLS)
def test_train_and_heldout_share_no_question_whatever_the_seeds(skill):
    train = tasks_of(skill, "train", 300, seed=0) + tasks_of(skill, "train", 300, seed=1)
    heldout = tasks_of(skill, "heldout", 300, seed=0) + tasks_of(skill, "heldout", 300, seed=2)
    assert not {subject_of(t) for t in train} & {subject_of(t) for t in heldout}
    assert len({t.question for t in heldout}) > 100


def test_heldout_lookups_ask_about_other_entities():
    from toolorchestra.domain.wiki import load_wiki

    names = load_wiki().entities
    for skill in ("lookup", "multihop"):
        for split in ("train", "heldout"):
            for task in tasks_of(skill, split, 100):
                subject = next(name for name in names if f" {name}" in task.question)
                assert side_of(subject) == split


def test_a_skill_without_weight_is_never_drawn():
    skills = ALL | {"math": 0.0}
    drawn = {local_task(i, seed=0, split="train", skills=skills).skill for i in range(300)}
    assert drawn == set(SKILLS) - {"math"}


@pytest.mark.parametrize("skill", SKILLS)
def test_questions_and_answers_are_short(skill):
    tasks = tasks_of(skill, "train", 300)
    assert max(len(task.question) for task in tasks) < 120
    assert max(len(task.question.split()) for task in tasks) < 25
    assert max(len(task.answer.split()) for task in tasks) <= 3


@pytest.mark.parametrize("skill", SKILLS)
def test_every_answer_solves_its_task_and_another_s_does_not(skill):
    tasks = tasks_of(skill, "train", 60)
    for task, other in zip(tasks, tasks[1:], strict=False):
        assert judge_answer(task, task.answer).is_solved is True
        assert judge_answer(task, f"Answer: {task.answer}").is_solved is True
        if other.answer != task.answer:
            assert judge_answer(task, other.answer).is_solved is False


@pytest.mark.parametrize("skill", SKILLS)
def test_only_code_questions_are_programs(skill):
    for task in tasks_of(skill, "train", 200):
        try:
            compile(task.question, "question", "exec")
        except SyntaxError:
            assert skill != "code"
        else:
            assert skill == "code", task.question


def test_tasks_can_be_written_as_json_and_read_back():
    for skill in SKILLS:
        for task in tasks_of(skill, "train", 20):
            assert from_json(Task, to_json(task)) == task


def test_a_task_takes_under_five_milliseconds():
    for skill in SKILLS:  # imports and word lists are loaded once
        tasks_of(skill, "heldout", 20)
    start = time.process_time()
    for i in range(400):
        local_task(i, seed=9, split="train", skills=ALL)
    assert (time.process_time() - start) / 400 < 0.005


@pytest.mark.parametrize("split", ["test", "", "Train"])
def test_an_unknown_split_is_refused(split):
    with pytest.raises(ValueError, match="is not allowed; use train or heldout"):
        local_task(0, seed=0, split=split, skills=ALL)


def test_an_unknown_skill_is_refused():
    with pytest.raises(ValueError, match="'maths' is not allowed"):
        local_task(0, seed=0, split="train", skills={"maths": 1.0})
