"""`python report.py`: which command a first word means, and that no other is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
import report
from tests.unit.experiment.declared import write_experiment

ROOT = Path(__file__).parents[3]


@pytest.fixture
def asked(monkeypatch):
    """The modules that are loaded for commands, and the words that they parse."""
    loaded = []

    class Command:
        @staticmethod
        def add_arguments(parser):
            parser.add_argument("words", nargs="*")
            parser.set_defaults(run=lambda arguments: loaded.append(arguments.words) or 0)

    monkeypatch.setattr(report, "import_module", lambda name: loaded.append(name) or Command)
    return loaded


@pytest.mark.parametrize("word", report.COMMANDS)
def test_a_command_is_loaded_where_its_name_comes_first(asked, word):
    assert report.main([word, "a", "b"]) == 0
    assert asked == [f"toolorchestra.command.{word}", ["a", "b"]]
    assert (ROOT / f"src/toolorchestra/command/{word}.py").is_file()


def test_a_folder_alone_means_the_page_of_a_run_or_the_table_of_an_experiment(asked, tmp_path):
    assert report.main([str(tmp_path)]) == 0
    assert asked == ["toolorchestra.command.page", [str(tmp_path)]]
    asked.clear()
    folder = write_experiment(tmp_path / "table9")
    assert report.main([str(folder)]) == 0
    assert asked == ["toolorchestra.command.table", [str(folder)]]


def test_help_names_all_commands_and_loads_none():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "report.py", "--help"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert all(word in done.stdout for word in report.COMMANDS)
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert loaded.isdisjoint({"torch", "transformers", "matplotlib"})
