import logging

import datasets
import pytest
from tests.unit.dataset.hub import COMMIT, serving_hub
from tests.unit.dataset.tables import config, parquet, rows

from toolorchestra.dataset.source import make_source
from toolorchestra.dataset.table_load import check_columns, commit_of, load_table

pytestmark = pytest.mark.usefixtures("own_cache")

ROWS = rows(3)


def write(tmp_path, form):
    table = datasets.Dataset.from_list(ROWS)
    path = tmp_path / form
    if form == "saved":
        table.save_to_disk(str(path))
    elif form == "splits":
        datasets.DatasetDict({"train": table, "test": table.select([0])}).save_to_disk(str(path))
    elif form == "folder":
        path.mkdir()
        (path / "README.md").write_text("Two files.")
        table.select([0]).to_parquet(str(path / "0.parquet"))
        table.select([1, 2]).to_parquet(str(path / "1.parquet"))
    elif form == "rows.arrow":
        table.save_to_disk(str(tmp_path / "for_arrow"))
        path = next((tmp_path / "for_arrow").glob("*.arrow"))
    else:
        (table.to_parquet if form.endswith("parquet") else table.to_json)(str(path))
    return str(path)


FORMS = ["rows.parquet", "rows.jsonl", "rows.json", "rows.arrow", "folder", "saved", "splits"]


@pytest.mark.parametrize("form", FORMS)
def test_a_local_table_is_read_in_every_form(tmp_path, form):
    path = write(tmp_path, form)
    table = load_table(path)
    assert table["question"] == [row["question"] for row in ROWS]
    assert commit_of(table, path=path) is None


def test_the_split_of_what_was_saved_is_chosen(tmp_path):
    path = write(tmp_path, "splits")
    assert len(load_table(path, split="test")) == 1
    with pytest.raises(ValueError, match="with split 'dev' .there are train, test.; use a split"):
        load_table(path, split="dev")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"", r"a\.parquet: cannot be read \(Parquet file size is 0 bytes\); mend"),
        ("a.parquet", b"PAR1 nothing PAR1", r"a\.parquet: cannot be read \(Parquet file size"),
        ("a.jsonl", b"", r"a\.jsonl: cannot be read \(no rows\); mend"),
        ("a.jsonl", b'{"question": 1\n', r"a\.jsonl: cannot be read \(JSON parse error"),
        ("a.arrow", b"nothing", r"a\.arrow: cannot be read"),
        ("a.txt", b"question", r"a\.txt: cannot be read \(it holds no file of \.parquet"),
    ],
)
def test_a_faulty_file_is_refused_in_one_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        load_table(str(path))
    assert "\n" not in str(caught.value)


def test_a_table_that_was_cut_off_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet(path, ROWS)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"rows\.parquet: cannot be read"):
        load_table(str(path))


def test_a_table_without_rows_is_refused(tmp_path):
    path = tmp_path / "none.parquet"
    datasets.Dataset.from_dict({"question": []}).to_parquet(str(path))
    with pytest.raises(ValueError, match=r"none\.parquet: .*use .* a file with rows"):
        load_table(str(path))


def test_a_folder_of_two_forms_is_refused(tmp_path):
    write(tmp_path, "rows.parquet")
    write(tmp_path, "rows.jsonl")
    with pytest.raises(ValueError, match="it holds several forms of"):
        load_table(str(tmp_path))


@pytest.mark.parametrize("path", ["none.parquet", "folder/none.jsonl", "/none", "a/b/c"])
def test_a_file_that_is_not_there_is_not_looked_for_on_the_hub(path):
    with pytest.raises(ValueError, match=f"{path}: no such file or folder; name a table"):
        load_table(path, revision="main")


def test_missing_columns_are_named_beside_those_that_are_there(tmp_path):
    table = load_table(write(tmp_path, "rows.parquet"))
    check_columns(table, ["question"], path="x")
    message = "x: the columns a, b are missing; there are question, reference_answer, prev_messages"
    with pytest.raises(ValueError, match=message):
        check_columns(table, ["a", "question", "b"], path="x")


def test_a_table_of_the_hub_needs_a_revision():
    with pytest.raises(ValueError, match="owner/name: a table of the hub needs a revision; set"):
        load_table("owner/name")


def test_without_a_network_the_hub_is_said_to_be_out_of_reach():
    message = "owner/name: the hub cannot be reached .*; go online, or name a local copy"
    with pytest.raises(ValueError, match=message):
        load_table("owner/name", revision="main")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    parquet(tmp_path / "train.parquet", rows(50))
    with serving_hub((tmp_path / "train.parquet").read_bytes(), monkeypatch, tmp_path / "hub"):
        yield


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("owner/gated", "owner/gated: the hub gives it only to those who accepted its terms; acc"),
        ("owner/none", "owner/none: cannot be had from the hub .*; check name and revision, or n"),
        ("owner/empty", "owner/empty: cannot be had from the hub .*doesn't contain any data file"),
    ],
)
def test_what_the_hub_refuses_or_lacks_is_explained(path, message):
    with pytest.raises(ValueError, match=message) as caught:
        load_table(path, revision="main")
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("hub")
def test_a_table_of_the_hub_is_read_and_the_log_names_its_commit(caplog):
    with caplog.at_level(logging.INFO, logger="toolorchestra"):
        source = make_source(config("owner/name", revision="main"), seed=1)
    assert sum(map(len, source.rows.values())) == 50
    assert f"owner/name at {COMMIT} gives" in caplog.text
