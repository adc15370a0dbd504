"""Datasets that are evaluated on as a whole, and the benchmarks that are such: HLE and FRAMES.

Their rows here are made up, in the columns that theirs have.
"""

import json

import pytest
from tests.composed import composed, options_of
from tests.unit.dataset.tables import config, parquet, rows

from toolorchestra.dataset.config import DatasetConfig, DomainsConfig
from toolorchestra.dataset.source import Present, every_task, make_source
from toolorchestra.domain.load import load_shipped

pytestmark = pytest.mark.usefixtures("own_cache")

JUDGED = Present(judges_free_text=True)
OPTIONS = "Which metal is liquid at 20 degrees?\n\nAnswer Choices:\nA. Iron\nB. Mercury\nC. Tin"
PICTURE = "data:image/png;base64,AAAA"


def hle_row(question, answer, *, answer_type="exactMatch", image=""):
    return {
        "id": f"id-{question[:8]}",
        "question": question,
        "image": image,
        "image_preview": None,
        "answer": answer,
        "answer_type": answer_type,
        "author_name": "somebody",
        "rationale": "It is made up.",
        "rationale_image": None,
        "raw_subject": "Chemistry",
        "category": "Chemistry",
        "canary": "made up",
    }


HLE = [
    hle_row(OPTIONS, "B", answer_type="multipleChoice"),
    hle_row("How many edges has a cube?", "12"),
    hle_row("Why is the sky of Mars red?", "Fine dust that holds iron oxide scatters the light."),
    hle_row("What is drawn here?", "A horse", image=PICTURE),
]


def frames_row(number, prompt, answer):
    return {
        "Unnamed: 0": number,
        "Prompt": prompt,
        "Answer": answer,
        "wikipedia_link_1": "https://en.wikipedia.org/wiki/A",
        "wikipedia_link_11+": None,
        "reasoning_types": "Numerical reasoning | Multiple constraints",
        "wiki_links": "['https://en.wikipedia.org/wiki/A']",
    }


FRAMES = [
    frames_row(0, "How much older is A than B?", "12 years"),
    frames_row(1, "Who wrote the book that C read?", "Somebody Else"),
]


def asked(benchmark, path, *overrides):
    """The tasks that a benchmark holds out, by question."""
    options = options_of(
        f"benchmark={benchmark}", f"benchmark.dataset.table.path={path}", *overrides
    )
    assert options.benchmark.num_episodes is None
    source = make_source(options.heldout, seed=1, present=JUDGED)
    assert every_task(source, "train") == []
    return {task.question: task for task in every_task(source, "heldout")}


def test_hle_asks_every_question_without_a_picture(tmp_path):
    tasks = asked("hle", parquet(tmp_path / "hle.parquet", HLE))
    assert tasks.keys() == {row["question"] for row in HLE[:3]}
    kinds = {question: task.answer_kind for question, task in tasks.items()}
    assert list(kinds.values()).count("choice") == 1 and kinds[OPTIONS] == "choice"
    assert tasks["How many edges has a cube?"].answer_kind == "number"
    assert tasks["Why is the sky of Mars red?"].answer_kind == "text"
    assert "made up" not in json.dumps([t.question + str(t.metadata) for t in tasks.values()])
    for question, task in tasks.items():  # how to answer is told beside the question
        asked_for = [line.partition(":")[0] for line in task.metadata["answer_form"].splitlines()]
        assert asked_for[1:] == ["Explanation", "Answer", "Confidence"]
        assert "Confidence" not in question
    assert tasks[OPTIONS].metadata["options"]


def test_hle_whole_asks_those_with_a_picture_too(tmp_path):
    path = parquet(tmp_path / "hle.parquet", HLE)
    tasks = asked("hle", path, "benchmark.dataset.table.empty=[]")
    assert tasks.keys() == {row["question"] for row in HLE}


def test_frames_asks_every_question(tmp_path):
    tasks = asked("frames", parquet(tmp_path / "frames.parquet", FRAMES))
    answers = {question: task.answer for question, task in tasks.items()}
    assert answers == {row["Prompt"]: row["Answer"] for row in FRAMES}


@pytest.mark.parametrize("benchmark", ["hle", "frames"])
def test_a_table_with_other_columns_is_refused(tmp_path, benchmark):
    path = parquet(tmp_path / "t.parquet", rows(3))
    with pytest.raises(ValueError, match="are missing; there are"):
        asked(benchmark, path)


@pytest.mark.parametrize("name", ["hle", "frames"])
def test_nobody_trains_on_a_benchmark(name):
    with pytest.raises(ValueError, match=f"not allowed in training, and {name} has held-out"):
        options_of(f"dataset={name}")
    composed("benchmark=none", f"dataset={name}", command="evaluate")


def test_every_row_of_a_table_is_held_out_where_it_is_asked(tmp_path):
    table = config(parquet(tmp_path / "t.parquet", rows(30))).table
    whole = DatasetConfig(name="t", kind="table", table=table, is_heldout=True)
    source = make_source(whole, seed=1)
    assert len(every_task(source, "heldout")) == 30 and every_task(source, "train") == []
    assert source(30, "heldout") == source(0, "heldout")


def test_every_task_of_a_file_is_held_out_where_it_is_asked(tmp_path):
    path = tmp_path / "tasks.jsonl"
    lines = [
        {"id": f"t{i}", "skill": "math", "question": f"{i} + 1?", "answer": str(i + 1)}
        for i in range(7)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    source = make_source(
        DatasetConfig(name="t", kind="jsonl", path=str(path), is_heldout=True), seed=1
    )
    assert {task.id for task in every_task(source, "heldout")} == {line["id"] for line in lines}


def test_every_goal_of_a_domain_is_held_out_where_it_is_asked():
    goals = DatasetConfig(
        name="g", kind="domain", domain=DomainsConfig(weights={"library": 1.0}), is_heldout=True
    )
    found = every_task(make_source(goals, seed=1), "heldout")
    assert len(found) == len(load_shipped("library").tasks)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "local"}, "dataset.is_heldout: true is not allowed"),
        (
            {"kind": "jsonl", "path": "a.jsonl", "heldout_path": "b.jsonl"},
            "dataset.heldout_path: b.jsonl is not allowed",
        ),
    ],
)
def test_what_cannot_be_held_out_as_a_whole_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        DatasetConfig(name="t", is_heldout=True, **changes)


def test_a_mixture_has_no_source_that_is_held_out_as_a_whole(tmp_path):
    source = DatasetConfig(name="a", kind="jsonl", path="a.jsonl", is_heldout=True)
    with pytest.raises(ValueError, match="sources.a.is_heldout: true is not allowed"):
        DatasetConfig(name="m", kind="mix", sources={"a": source}, weights={"a": 1.0})
