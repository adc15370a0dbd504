import json
import os

import pytest

from toolorchestra.dataset.jsonl import read_tasks, write_tasks
from toolorchestra.types import Task

GOOD = {"id": "a", "skill": "math", "question": "1 + 1?", "answer": "2"}


def line(**changes):
    return json.dumps(GOOD | changes)


def task(identity):
    return Task(
        id=identity,
        skill="math",
        question="Wie groß ist ½?",
        answer="0.5",
        answer_kind="number",
        metadata={"family": "x", "entry": {"answer": "0.5"}},
    )


def test_tasks_read_back_as_they_were_written(tmp_path):
    path = tmp_path / "tasks.jsonl"
    write_tasks(path, [task("a"), task("b")])
    assert read_tasks(path) == (task("a"), task("b"))
    assert os.listdir(tmp_path) == ["tasks.jsonl"]


def test_answer_kind_and_metadata_may_be_left_out(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(line() + "\r\n\n" + line(id="b"), encoding="utf-8-sig")
    first, second = read_tasks(path)
    assert (first.answer_kind, first.metadata, second.id) == ("text", {}, "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (line() + "\n" + line(id="b")[:-9], r"tasks\.jsonl:2: not a whole JSON object .*mend or"),
        (line() + "\nnonsense\n", r"tasks\.jsonl:2: not a whole JSON object"),
        ("[1, 2]\n", r"tasks\.jsonl:1: a task must be a JSON object"),
        ('{"id": "a", "skill": "x"}\n', r"tasks\.jsonl:1: missing question, answer; every task"),
        (line() + "\n\n" + line(), r"tasks\.jsonl:3: the id 'a' was used in line 1 already"),
        (line(answer=2), r"tasks\.jsonl:1: .*answer.*2.*mend the line"),
        (line(answer=" "), r"tasks\.jsonl:1: answer is empty"),
        (line(id=""), r"tasks\.jsonl:1: id is empty"),
        (line(anwser="2"), r"tasks\.jsonl:1: .*'anwser' is unknown"),
        (line(metadata=[]), r"tasks\.jsonl:1: .*metadata"),
        (line(answer_kind="nmber"), r"tasks\.jsonl:1: answer_kind 'nmber' is not allowed; use te"),
        ("", r"tasks\.jsonl:1: the file holds no task"),
        (" \n\n", r"tasks\.jsonl:1: the file holds no task"),
    ],
)
def test_a_faulty_file_is_refused_with_line_fault_and_remedy(tmp_path, text, message):
    path = tmp_path / "tasks.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        read_tasks(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_refused_with_its_line(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line().encode() + b"\n\xff\xfe\n")
    with pytest.raises(ValueError, match=r"tasks\.jsonl:2: not UTF-8 text"):
        read_tasks(path)


def test_a_missing_file_is_refused_with_the_key_to_check(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be read \(No such file.*check dataset\.path"):
        read_tasks(tmp_path / "tasks.jsonl")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "tasks.jsonl"
    write_tasks(path, [task("a")])

    def broken():
        yield task("b")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_tasks(path, broken())
    assert read_tasks(path) == (task("a"),)
    assert os.listdir(tmp_path) == ["tasks.jsonl"]


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be written .*choose a folder that exists"):
        write_tasks(tmp_path / "none" / "tasks.jsonl", [task("a")])
