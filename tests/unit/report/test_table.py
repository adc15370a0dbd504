import csv
import io
import json
import math

import pytest
from rich.console import Console

from toolorchestra.report.stats import Estimate
from toolorchestra.report.table import Table, to_text

TABLE = Table(
    title="Held-out episodes",
    columns=("policy", "U", "cents"),
    rows=(
        ("trained", Estimate(value=0.741, low=0.71, high=0.78), 1.23456),
        ("sim/a|b", 0.5, None),
    ),
    digits={"cents": 3},
    note='Tools named "sim/" are simulated.',
)


def test_markdown_has_title_aligned_columns_escaped_pipes_and_note():
    # Arms of the interval: 0.039 above, 0.031 below; the longer one is shown.
    assert TABLE.to_markdown() == (
        "**Held-out episodes**\n\n"
        "| policy | U | cents |\n"
        "| --- | --: | --: |\n"
        "| trained | 0.74 ± 0.04 | 1.235 |\n"
        "| sim/a\\|b | 0.50 | – |\n\n"
        'Tools named "sim/" are simulated.\n'
    )


def test_csv_keeps_all_digits_and_both_ends():
    rows = list(csv.DictReader(io.StringIO(TABLE.to_csv())))
    assert rows[0] == {
        "policy": "trained", "U": "0.741", "U_low": "0.71", "U_high": "0.78", "cents": "1.23456"
    }  # fmt: skip
    assert rows[1] == {"policy": "sim/a|b", "U": "0.5", "U_low": "", "U_high": "", "cents": ""}


def test_json_is_strict_and_keeps_estimates_apart():
    content = json.loads(TABLE.to_json(), parse_constant=pytest.fail)
    assert content["rows"][0]["U"] == {"value": 0.741, "low": 0.71, "high": 0.78}
    assert content["note"] == TABLE.note


def test_infinite_and_missing_figures_do_not_break_any_form():
    wide = Estimate(value=0.5, low=-math.inf, high=1.0)
    table = Table(title="t", columns=("x", "y"), rows=((wide, math.nan),))
    assert json.loads(table.to_json(), parse_constant=pytest.fail)["rows"] == [
        {"x": {"value": 0.5, "low": None, "high": 1.0}, "y": None}
    ]
    assert "| 0.50 ± inf | – |" in table.to_markdown()


def test_the_terminal_shows_brackets_literally():
    table = Table(title="t", columns=("name",), rows=(("[bold]x[/bold]",),))
    console = Console(width=60, file=io.StringIO(), record=True)
    console.print(table.to_rich())
    assert "[bold]x[/bold]" in console.export_text()


def test_a_row_of_the_wrong_length_is_a_mistake():
    with pytest.raises(AssertionError, match="1 cells, 2 columns"):
        Table(title="t", columns=("a", "b"), rows=((1,),))


def test_whole_numbers_keep_no_decimals():
    assert to_text(1000) == "1000"
