import logging
import tracemalloc

import datasets
import pytest
from tests.unit.dataset.tables import config, parquet, rows

from toolorchestra.dataset.source import Present, every_task, make_source
from toolorchestra.dataset.split import side_of

pytestmark = pytest.mark.usefixtures("own_cache")

LONG = "Because light takes the way that needs the least time, as Fermat found."


def row(question, answer, before=None):
    return {"question": question, "reference_answer": answer, "prev_messages": before}


def drawn(source, split, count):
    return [source(index, split) for index in range(count)]


def test_each_question_comes_once_in_the_split_that_its_digest_gives(tmp_path):
    source = make_source(config(parquet(tmp_path / "t.parquet", rows(100))), seed=1)
    tasks = {split: drawn(source, split, len(source.rows[split])) for split in source.rows}
    assert len(tasks["train"]) + len(tasks["heldout"]) == 100
    questions = {task.question for split in tasks for task in tasks[split]}
    assert questions == {record["question"] for record in rows(100)}
    for split, found in tasks.items():
        assert {side_of(task.question, num_parts=5) for task in found} == {split}
        assert source(len(found), split) == found[0]


def test_a_task_holds_question_answer_and_kind(tmp_path):
    source = make_source(config(parquet(tmp_path / "t.parquet", rows(40)), skill="math"), seed=1)
    task = source(0, "train")
    number = int(task.question.split()[2])
    assert (task.answer, task.answer_kind, task.skill) == (str(number + 1), "number", "math")
    assert task.id.startswith("t-") and task.metadata == {}


def test_order_follows_the_seed_and_neither_split_nor_ids_do(tmp_path):
    table = config(parquet(tmp_path / "t.parquet", rows(60)))
    first, same, other = (make_source(table, seed=seed) for seed in (1, 1, 2))
    count = len(first.rows["train"])
    ids = [[task.id for task in drawn(source, "train", count)] for source in (first, same, other)]
    assert ids[0] == ids[1] != ids[2]
    assert sorted(ids[0]) == sorted(ids[2])


def test_a_table_in_another_order_gives_the_same_tasks_in_the_same_order(tmp_path):
    forwards = config(parquet(tmp_path / "a.parquet", rows(60)))
    backwards = config(parquet(tmp_path / "b.parquet", rows(60)[::-1]))
    first, second = (make_source(table, seed=1) for table in (forwards, backwards))
    assert drawn(first, "train", 40) == drawn(second, "train", 40)


def mixed_rows():
    """Each fault once or more, among good rows."""
    return [
        *rows(50),
        row("What is 3 + 1?", "4"),
        row("  What is 3 + 1?\n", "5"),
        row("Why is light bent?", LONG),
        row("What then?", "7", before="Hello."),
        row("And then?", "7", before="[]"),
        row("Who?", None),
        row("Whom?", "  "),
        row(None, "7"),
        row(" ", "7"),
    ]


COUNTS = {
    "whose question came before": 2,
    "whose answer no matcher can check": 1,
    "that go on from something": 1,
    "without an answer": 2,
    "without a question": 2,
}


def test_what_was_left_out_is_counted_by_reason_and_told_in_one_line(tmp_path, caplog):
    table = config(parquet(tmp_path / "t.parquet", mixed_rows()), name="general")
    with caplog.at_level(logging.INFO, logger="toolorchestra"):
        source = make_source(table, seed=1)
    assert source.left_out == COUNTS
    assert sum(map(len, source.rows.values())) == 51
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("dataset general: ") and "\n" not in line
    assert f"gives {len(source.rows['train'])} tasks to train on" in line
    assert all(f"{count} {reason}" in line for reason, count in COUNTS.items())


def test_the_first_of_two_rows_with_one_question_is_kept(tmp_path):
    source = make_source(config(parquet(tmp_path / "t.parquet", mixed_rows())), seed=1)
    tasks = [task for split in source.rows for task in drawn(source, split, 60)]
    assert {task.answer for task in tasks if task.question == "What is 3 + 1?"} == {"4"}


def test_a_judge_that_is_a_model_keeps_free_texts(tmp_path):
    table = config(parquet(tmp_path / "t.parquet", mixed_rows()))
    source = make_source(table, seed=1, present=Present(judges_free_text=True))
    assert source.left_out == {key: n for key, n in COUNTS.items() if "matcher" not in key}
    tasks = [task for split in source.rows for task in drawn(source, split, 60)]
    (free,) = {task.id: task for task in tasks if task.answer == LONG}.values()
    assert free.answer_kind == "text"


def test_options_of_a_choice_come_with_the_task(tmp_path):
    records = [row(f"Case {i}: which is right?\nA. up\nB. down", "B") for i in range(30)]
    source = make_source(config(parquet(tmp_path / "t.parquet", records)), seed=1)
    task = source(0, "train")
    assert (task.answer_kind, task.answer) == ("choice", "B")
    assert task.metadata == {"options": ["up", "down"]}


def test_jsonl_gives_the_same_tasks_as_parquet(tmp_path):
    first = config(parquet(tmp_path / "t.parquet", rows(40)))
    datasets.Dataset.from_list(rows(40)).to_json(str(tmp_path / "t.jsonl"))
    second = config(tmp_path / "t.jsonl")
    tasks = [drawn(make_source(table, seed=3), "train", 20) for table in (first, second)]
    assert tasks[0] == tasks[1]


@pytest.mark.parametrize(
    ("records", "changes", "message"),
    [
        (rows(9), {"answer": "gold"}, "columns gold are missing; there are question, reference_a"),
        (rows(9), {"empty": ["history"]}, "the columns history are missing"),
        ([{"question": "1?", "reference_answer": 2}], {"empty": []}, "reference_answer holds int6"),
        ([{"question": ["1?"], "reference_answer": "2"}], {"empty": []}, "question holds .* and n"),
        ([row("Why?", LONG)] * 3, {}, "leaves no task for the split train .3 whose answer no mat"),
        ([row("Why?", None)] * 3, {}, "leaves no task for the split train .3 without an answer"),
        (rows(1), {}, "leaves no task for the split"),
    ],
)
def test_a_table_that_will_not_do_is_refused_in_one_sentence(tmp_path, records, changes, message):
    path = parquet(tmp_path / "t.parquet", records)
    with pytest.raises(ValueError, match=message) as caught:
        make_source(config(path, **changes), seed=1)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_a_file_that_is_no_utf_8_is_refused(tmp_path):
    line = b'{"question": "Gr\xfc\xdfe?", "reference_answer": "1", "prev_messages": null}\n'
    (tmp_path / "t.jsonl").write_bytes(line)
    with pytest.raises(ValueError, match="cannot be read .*not UTF-8 text.; mend the files"):
        make_source(config(tmp_path / "t.jsonl"), seed=1)


def test_a_large_table_is_never_held_in_memory(tmp_path):
    padding = "x" * 10_000  # 40 MB in all
    records = [row(f"{i}: {padding}", str(i)) for i in range(4000)]
    table = config(parquet(tmp_path / "t.parquet", records))
    del records
    make_source(table, seed=1)  # the library writes its cache
    tracemalloc.start()
    source = make_source(table, seed=1)
    source(0, "train")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 15e6  # a batch of rows, and a few bytes for each of them


def test_every_row_that_is_kept_is_given_once(tmp_path):
    source = make_source(config(parquet(tmp_path / "t.parquet", rows(50))), seed=1)
    found = [task.question for split in source.rows for task in every_task(source, split)]
    assert sorted(found) == sorted(record["question"] for record in rows(50))
