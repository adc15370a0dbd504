"""Exports from the command to the files."""

import json

import pytest

from toolorchestra.dataset.domains import split_goals
from toolorchestra.dataset.export.__main__ import main, options_of
from toolorchestra.dataset.export.config import ExportConfig
from toolorchestra.domain.difference import digest
from toolorchestra.domain.load import load_shipped


def test_the_command_writes_both_splits_and_a_card(tmp_path, capsys):
    assert main(["library", "form=openai", f"out={tmp_path / 'made'}"]) == 0
    files = sorted(path.name for path in (tmp_path / "made").iterdir())
    assert files == ["README.md", "heldout.jsonl", "train.jsonl"]
    assert set(capsys.readouterr().out.split()) == {str(tmp_path / "made" / n) for n in files}
    splits = split_goals(load_shipped("library"))
    for split, goals in splits.items():
        lines = (tmp_path / "made" / f"{split}.jsonl").read_text().splitlines()
        asked = [json.loads(line)["messages"][1]["content"] for line in lines]
        assert asked == [goal.instruction for goal in goals]


def test_tau2_names_the_tasks_of_each_split(tmp_path):
    assert main(["clinic", "form=tau2", f"out={tmp_path}"]) == 0
    ids = json.loads((tmp_path / "split_tasks.json").read_text())
    goals = split_goals(load_shipped("clinic"))
    assert ids == {split: [goal.id for goal in found] for split, found in goals.items()}
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert {task["id"] for task in tasks} == {*ids["train"], *ids["heldout"]}


def test_the_card_counts_and_says_where_it_all_comes_from(tmp_path):
    main(["library", f"out={tmp_path}"])
    card = (tmp_path / "README.md").read_text()
    domain = load_shipped("library")
    splits = split_goals(domain)
    levels = [sum(goal.difficulty == level for goal in splits["heldout"]) for level in range(1, 6)]
    counts = " | ".join(map(str, [len(splits["heldout"]), *levels]))
    assert f"| heldout | {counts} |" in card
    assert f"Tools: {len(domain.functions)} ({', '.join(domain.functions)})." in card
    num_records = sum(map(len, domain.database.records.values()))
    assert f"Records: {num_records} (" in card
    assert f"sha256 `{digest(domain.database)}`" in card
    assert card.startswith("---\nlicense: apache-2.0\n") and "Licence: Apache-2.0." in card


def test_tasks_in_which_the_user_calls_functions_are_no_conversations_of_the_policys(tmp_path):
    main(["courier", f"out={tmp_path}"])
    tasks = load_shipped("courier").tasks.values()
    theirs = [task.instruction for task in tasks if task.needs_user]
    lines = [
        json.loads(line)
        for split in ("train", "heldout")
        for line in (tmp_path / f"{split}.jsonl").read_text().splitlines()
    ]
    asked = {line["messages"][1]["content"] for line in lines}
    assert theirs and not asked & set(theirs) and len(asked) == len(tasks) - len(theirs)
    assert (
        f"Left out: {len(theirs)} tasks in which the user" in (tmp_path / "README.md").read_text()
    )


def test_an_export_made_twice_is_the_same(tmp_path):
    for name in ("a", "b"):
        main(["library", f"out={tmp_path / name}"])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["library", "form=csv"], "form: 'csv' is not allowed; use openai or tau2"),
        (["library", "out="], "out"),
        (["library", "from=tau2"], "from"),
        (["zoo"], "zoo: No module named 'zoo'"),
        (["json"], "functions.py: is missing"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(
    tmp_path, capsys, monkeypatch, words, said
):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    told = capsys.readouterr().err
    assert told.startswith("error: ") and said in told and told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert main(["library", f"out={tmp_path / 'file'}"]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_without_a_domain_the_command_tells_how_it_is_used(capsys):
    assert main([]) == 2 and main(["form=tau2"]) == 2 and main(["--help"]) == 0
    assert "python -m toolorchestra.dataset.export" in capsys.readouterr().err


def test_options_have_defaults():
    assert options_of(["library"]) == ExportConfig(domain="library")
