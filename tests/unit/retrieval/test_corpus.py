import datasets
import pytest

from toolorchestra.retrieval.config import CorpusConfig
from toolorchestra.retrieval.corpus import read_documents
from toolorchestra.retrieval.record import Document

ROWS = [{"key": "a", "name": "A", "body": "First."}, {"key": "b", "name": None, "body": "Second."}]
COLUMNS = {"id_column": "key", "title_column": "name", "text_column": "body"}
EXPECTED = [Document(id="a", title="A", text="First."), Document(id="b", text="Second.")]


def read(**options):
    return list(read_documents(CorpusConfig(**options)))


def test_the_shipped_wiki_is_a_corpus_of_a_thousand_sentences_with_ids_that_differ():
    found = read(kind="wiki")
    assert len({document.id for document in found}) == len(found) == 1000
    assert all(document.title in document.id for document in found)


def test_a_jsonl_file_is_read_line_by_line(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "a", "text": "First.", "title": "A"}\n\n{"id": 7, "text": "x"}\n')
    assert read(kind="jsonl", path=str(path)) == [
        Document(id="a", title="A", text="First."),
        Document(id="7", text="x"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: it is no JSON"),
        ("[]", "line 2: expected an object; got list"),
        ('{"id": "a"}', "line 2: key 'text' is missing"),
        ('{"text": "a"}', "line 2: key 'id' is missing"),
        ('{"id": "", "text": "a"}', "line 2: the id must be"),
        ('{"id": true, "text": "a"}', "line 2: the id must be"),
        ('{"id": "a", "text": null}', "line 2: the text must be a text; got NoneType"),
        ('{"id": "a", "text": "a", "title": 3}', "line 2: the title must be"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, message):
    path = tmp_path / "docs.jsonl"
    path.write_text(f'{{"id": "z", "text": "z"}}\n{line}\n')
    with pytest.raises(ValueError, match=message):
        read(kind="jsonl", path=str(path))


def test_half_a_character_is_replaced_as_it_cannot_be_written(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "a", "text": "x\\ud800y"}\n')
    assert read(kind="jsonl", path=str(path))[0].text == "x?y"


@pytest.mark.parametrize("kind", ["parquet", "json"])
def test_files_that_datasets_loads_are_a_corpus(tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    rows = datasets.Dataset.from_list(ROWS)
    (rows.to_parquet if kind == "parquet" else rows.to_json)(str(path))
    assert read(kind="dataset", path=kind, data_files=[str(path)], **COLUMNS) == EXPECTED


@pytest.mark.parametrize("has_splits", [False, True])
def test_a_dataset_that_was_saved_is_a_corpus(tmp_path, has_splits):
    rows = datasets.Dataset.from_list(ROWS)
    saved = datasets.DatasetDict({"train": rows}) if has_splits else rows
    saved.save_to_disk(str(tmp_path / "saved"))
    assert read(kind="dataset", path=str(tmp_path / "saved"), **COLUMNS) == EXPECTED


def test_rows_without_an_id_column_are_numbered(tmp_path):
    datasets.Dataset.from_list(ROWS).save_to_disk(str(tmp_path / "saved"))
    found = read(kind="dataset", path=str(tmp_path / "saved"), text_column="body")
    assert [document.id for document in found] == ["0", "1"]


def test_an_absent_column_or_split_or_dataset_is_refused_by_name(tmp_path):
    saved = datasets.DatasetDict({"train": datasets.Dataset.from_list(ROWS)})
    saved.save_to_disk(str(tmp_path / "saved"))
    with pytest.raises(ValueError, match="row 0: no column 'text'; use key, name, body"):
        read(kind="dataset", path=str(tmp_path / "saved"))
    with pytest.raises(ValueError, match="with split 'test' cannot be loaded"):
        read(kind="dataset", path=str(tmp_path / "saved"), split="test")
    with pytest.raises(ValueError, match="'nobody/nothing' with split 'train' cannot be loaded"):
        read(kind="dataset", path="nobody/nothing")


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        read(kind="jsonl", path=str(tmp_path / "absent"))
