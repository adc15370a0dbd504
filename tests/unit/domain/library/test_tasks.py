import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import toolorchestra.domain.library as library_package
from toolorchestra.domain.load import load_shipped
from toolorchestra.domain.verify import verify

_HOME = Path(library_package.__file__).parent


@pytest.fixture(scope="module")
def library():
    return load_shipped("library")


def test_it_is_as_large_as_a_domain_has_to_be(library):
    assert len(library.functions) >= 12
    assert sum(map(len, library.database.records.values())) >= 300
    assert len(library.tasks) >= 100


def test_tasks_rise_in_difficulty(library):
    difficulties = [task.difficulty for task in library.tasks.values()]
    assert difficulties == sorted(difficulties)
    counts = Counter(difficulties)
    assert set(counts) == {1, 2, 3, 4, 5} and min(counts.values()) >= 10


def test_no_two_tasks_ask_for_the_same(library):
    assert len({task.instruction for task in library.tasks.values()}) == len(library.tasks)


def test_every_function_that_writes_is_in_a_golden_action(library):
    used = {action.name for task in library.tasks.values() for action in task.actions}
    assert used >= {"lend_copy", "return_copy", "renew_loan", "report_lost", "place_hold"}
    assert used >= {"cancel_hold", "pay", "extend_membership", "set_reading_list"}


def test_golden_actions_solve_every_task(library):
    for task in library.tasks.values():
        messages = [" and ".join(task.communicate)]
        verdict = verify(library, task, actions=task.actions, messages=messages)
        assert verdict.is_solved, f"{task.id}: {verdict}"


@pytest.mark.parametrize("speaks", ["silent", "repeats the instruction"])
def test_doing_nothing_solves_no_task(library, speaks):
    for task in library.tasks.values():
        messages = [] if speaks == "silent" else [task.instruction]
        assert not verify(library, task, actions=(), messages=messages).is_solved, task.id


def test_golden_actions_alone_do_not_tell_the_user_what_was_asked(library):
    for task in library.tasks.values():
        if task.communicate:
            assert not verify(library, task, actions=task.actions, messages=["Done."]).is_solved


def test_every_process_makes_the_files_that_ship(tmp_path):
    program = (
        "import sys; from pathlib import Path; from toolorchestra.domain.fill import fill\n"
        "fill('library', Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    for file in ("database.jsonl", "tasks.jsonl"):
        assert (tmp_path / file).read_bytes() == (_HOME / file).read_bytes(), file
