"""The tables of an experiment, to the letter."""

import pytest
from tests.unit.experiment.declared import write_experiment
from tests.unit.experiment.kept import kept, numbers, world

from toolorchestra.experiment.declared import read_experiment
from toolorchestra.experiment.paper import read_figures
from toolorchestra.experiment.tabulate import local_table, paper_table
from toolorchestra.report.evaluation import SIMULATED_NOTE


@pytest.fixture
def experiment(tmp_path):
    return read_experiment(write_experiment(tmp_path / "table9"))


def test_ours_stands_beside_the_papers_figure_that_it_answers_to(experiment):
    figures = read_figures(experiment.home / experiment.paper)
    run = kept({"hle": world(policy=numbers())}, choices={"model": "big"}, shown_as={"big": "Big"})
    other = kept({"hle": world(policy=numbers())}, choices={"model": "small"}, shown_as={})
    # 3 of 4 are solved: 75 %, Wilson's interval from 30.1 to 95.4
    assert paper_table(experiment, figures, [other, run]).to_markdown() == (
        "**Table 9: the paper's figures, and ours beside them**\n\n"
        "| tools | orchestrator | HLE | HLE, ours | Cost |\n"
        "| --- | --- | --- | --: | --- |\n"
        "| No tool | Small | –∗ | – | – |\n"
        "| Basic tools | Big | 35.1 | 75.0 ± 44.9 | 30.2 |\n\n"
        "A dash: the paper has no figure, or ours has not been measured.\n"
    )


def test_simulated_experts_are_told_wherever_they_took_part(experiment):
    figures = read_figures(experiment.home / experiment.paper)
    run = kept({"hle": world(policy=numbers())}, choices={"model": "big"})
    assert SIMULATED_NOTE in paper_table(experiment, figures, [run]).note


def test_the_local_table_says_what_it_is_and_what_is_missing(experiment):
    run = kept({"local": world(start=numbers(), policy=numbers(utility=(1.0, 1.0, 0.5, 0.7)))})
    assert local_table(experiment, {"first": run}).to_markdown() == (
        "**Table 9: the local world**\n\n"
        "| policy | solved, % | gain |\n"
        "| --- | --: | --: |\n"
        "| start | 75.0 ± 44.9 | – |\n"
        "| trained | – | – |\n\n"
        f"A note. {SIMULATED_NOTE} Missing: second.\n"
    )
    whole = local_table(experiment, {"first": run, "second": run}, stale=["second"])
    assert "Missing" not in whole.note
    assert whole.note.endswith("Made with another config, and to be made anew: second.")
    assert whole.rows[1][2].value == 0.0  # against itself


def test_latex_escapes_what_would_break_it(experiment):
    text = local_table(experiment, {}).to_latex()
    assert r"policy & solved, \% & gain \\" in text
    assert r"trained & -- & -- \\" in text
    assert text.startswith("\\begin{table}\n") and text.endswith("\\end{table}\n")
