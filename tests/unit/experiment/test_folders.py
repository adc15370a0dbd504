"""The folders of experiments/: what they declare can be run, and stands in their READMEs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests.composed import CONF, composed

from toolorchestra.command.table import digest
from toolorchestra.experiment.declared import find_experiments
from toolorchestra.experiment.extract import read_extract
from toolorchestra.experiment.paper import read_figures
from toolorchestra.experiment.plan import SCALES
from toolorchestra.experiment.render import REAL_FOLDER
from toolorchestra.experiment.tabulate import paper_table

ROOT = CONF.parent
EXPERIMENTS = {e.name: e for e in find_experiments(ROOT / "experiments")}
each = pytest.mark.parametrize("name", sorted(EXPERIMENTS))


def missing(words: list[str]) -> list[str]:
    """Options among the words that conf/ does not have."""
    found = []
    for word in words:
        group, _, names = word.partition("=")
        if (CONF / group).is_dir():
            options = [f"{group}={name}" for name in names.split(",")]
            found += [
                option
                for option in options
                if not (CONF / f"{option.replace('=', '/')}.yaml").is_file()
            ]
    return found


def test_the_papers_tables_and_figures_are_all_there() -> None:
    assert {name for name in EXPERIMENTS if not name.startswith("ablate_")} == {
        "table1", "table2", "table3", "table4", "table15", "table16", "figure3", "figure5",
        "figure6",
    }  # fmt: skip


@each
def test_the_readme_has_every_command_that_is_declared(name: str) -> None:
    experiment = EXPERIMENTS[name]
    readme = (experiment.home / "README.md").read_text(encoding="utf-8")
    lines = readme.splitlines()
    assert experiment.claim.strip() in readme
    for command in experiment.real.commands:
        assert command.strip() in lines
    for run, declared in experiment.local.runs.items():
        line = f"python {declared.command}.py {shlex.join(declared.words)}"
        assert f"| {run} | {declared.minutes:g} | `{line}` |" in lines


@each
def test_every_option_that_a_command_names_is_in_conf(name: str) -> None:
    experiment = EXPERIMENTS[name]
    for command in experiment.real.commands:
        python, script, *words = shlex.split(command)
        assert python == "python" and (ROOT / script).is_file()
        assert any(word.startswith("experiment=") for word in words)
        assert missing(words) == []
    for run in experiment.local.runs.values():
        assert missing(run.words) == []


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_every_value_that_a_local_command_sets_is_in_its_schema(command: str) -> None:
    runs = [run for e in EXPERIMENTS.values() for run in e.local.runs.values()]
    own = [run for run in runs if run.command == command]
    words = [word for run in own for word in run.resolved(dict.fromkeys(run.after, "there"))]
    values = [w for w in words if not (CONF / w.partition("=")[0]).is_dir()]
    values += [*SCALES["tiny"][command]]
    composed(*dict.fromkeys(values), command=command)  # one that is not there raises


@each
def test_every_figure_of_the_paper_has_a_source_and_a_place(name: str) -> None:
    experiment = EXPERIMENTS[name]
    if not experiment.paper:
        assert name.startswith("ablate_")
        return
    figures = read_figures(experiment.home / experiment.paper)
    assert all(figure.source.startswith("arXiv 2511.21689v1, ") for figure in figures)
    assert {*experiment.real.rows} <= {figure.place for figure in figures}
    assert {c.name for c in experiment.real.columns} <= {figure.column for figure in figures}


def test_figures_that_the_text_states_twice_agree() -> None:
    """The abstract and sections 5 and 6 repeat some of the tables."""
    full = "Basic tools, specialized LLMs, generalist LLMs / "
    printed = {
        (name, f.place, f.column): f.value
        for name, e in EXPERIMENTS.items()
        if e.paper
        for f in read_figures(e.home / e.paper)
    }
    assert printed["table1", f"{full}Orchestrator-8B", "HLE"] == "37.1"
    assert printed["table1", f"{full}Orchestrator-8B", "FRAMES"] == "76.3"
    assert printed["table1", "Basic tools / GPT-5", "HLE"] == "35.1"
    assert printed["table1", "No tool / Claude Opus 4.1", "FRAMES"] == "58.2"
    assert printed["table1", "Basic tools / Claude Opus 4.1", "HLE"] == "19.8"
    assert printed["table1", f"{full}Qwen3-235B-A22B", "FRAMES"] == "74.2"
    assert (
        printed["table16", f"{full}Orchestrator-8B", "τ²-Bench"]
        == (printed["table1", f"{full}Orchestrator-8B", "τ²-Bench"])
    )


def test_all_local_runs_are_reckoned_to_fit_an_hour_on_two_cores() -> None:
    runs = {
        (run.command, *run.words, run.relative_to): run.minutes
        for experiment in EXPERIMENTS.values()
        for run in experiment.local.runs.values()
        if not run.needs
    }
    assert sum(runs.values()) <= 2 * 60
    readme = Path(ROOT / "experiments/README.md").read_text(encoding="utf-8")
    assert f"{len(runs)} runs, {sum(runs.values()):.0f} minutes on a core" in readme


@each
def test_the_papers_table_that_is_committed_is_what_its_data_gives(name: str) -> None:
    experiment = EXPERIMENTS[name]
    if not experiment.paper:
        return
    kept = [read_extract(path) for path in sorted((experiment.home / REAL_FOLDER).glob("*.json"))]
    figures = read_figures(experiment.home / experiment.paper)
    table = paper_table(experiment, figures, kept)
    for kind, text in (
        ("md", table.to_markdown()),
        ("tex", table.to_latex()),
        ("csv", table.to_csv()),
    ):
        committed = (experiment.home / f"table.{kind}").read_text(encoding="utf-8")
        assert committed == text, "python report.py table experiments renders it anew"


@pytest.mark.slow
@each
def test_every_local_command_composes(name: str) -> None:
    for run in EXPERIMENTS[name].local.runs.values():
        assert digest(run.command, run.words)
