import csv
import io

import pytest
from tests.unit.report.ledgers import (
    BIG,
    JUDGE,
    POLICY,
    SMALL,
    group,
    pricing,
    rollout,
    trial,
    write_run,
)

from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.report.logged import read_run
from toolorchestra.report.reprice import NOT_UNSEEN, file_table, split_table, summary_table
from toolorchestra.report.tally import Tally

VERSIONS = {"low": "2026-01-01", "high": "", "lender": ""}


@pytest.fixture
def tally(tmp_path):
    """Two training rollouts, one evaluated and judged, one void."""
    run = write_run(
        tmp_path,
        [group(rollout(POLICY, BIG, BIG), rollout(POLICY, SMALL, sample=1))],
        [
            trial("p", 0.008, rollout(BIG, JUDGE)),
            trial("p", None, rollout(BIG, status="void")),
        ],
    )
    options = pricing()
    found = Tally(build_price_book(options), options.draw)
    for logged in read_run(run):
        found.take("run", logged)
    return found


def test_the_summary_is_cents_a_task_with_marks_for_what_is_lent_and_what_is_unknown(tally):
    table = summary_table(tally, VERSIONS)
    assert table.columns == ("policy", "world", "steps", "tasks", "billed", "low", "high")
    training, evaluated = table.rows
    # billed (0.004 + 0.016 + 0.003) / 2; low (0.002 + 0.008 + 0.002) / 2; high (0.002 + 0.08) / 2
    assert training == (
        "training", "seen", "0", 2, pytest.approx(1.15), "0.6000*", "4.1000* + unknown (1)",
    )  # fmt: skip
    assert evaluated == ("p", "local", None, 1, *map(pytest.approx, (0.8, 0.4, 4.0)))


def test_every_tool_has_its_line_and_the_judge_stands_apart(tally):
    rows = {(row[0], row[3]): row[4:] for row in split_table(tally, VERSIONS).rows}
    assert list(rows) == [
        ("training", "all"), ("training", "policy"), ("training", "tools"),
        ("training", "tool sim/Big"), ("training", "tool sim/Small"),
        ("p", "all"), ("p", "policy"), ("p", "tools"), ("p", "tool sim/Big"), ("p", "judge"),
    ]  # fmt: skip
    assert rows["training", "tool sim/Big"] == tuple(map(pytest.approx, (0.8, 0.4, 4.0)))
    assert rows["training", "tool sim/Small"] == (
        pytest.approx(0.15), pytest.approx(0.1), "unknown (1)",
    )  # fmt: skip
    assert rows["p", "judge"] == (0.5, "0.6000*", "0.6000*")


def test_the_note_says_what_a_reader_must_know(tally):
    note = summary_table(tally, VERSIONS).note
    for told in (
        NOT_UNSEEN,
        "low (version 2026-01-01), high (no version)",
        "prices borrowed from lender.",
        "high has no price for Small.",
        "1 void or unscored rollouts are left out.",
        "simulated experts (sim/)",
    ):
        assert told in note
    assert "low has no price" not in note


def test_a_file_never_holds_a_sum_that_is_too_small(tally):
    rows = list(csv.DictReader(io.StringIO(file_table(tally).to_csv())))
    by_line = {(row["policy"], row["for"]): row for row in rows}
    total = by_line["training", "all"]
    assert (total["run"], total["steps"], total["tasks"]) == ("run", "0", "2")
    assert float(total["billed_cents"]) == pytest.approx(1.15)
    assert (total["high_cents"], total["high_unknown"]) == ("", "1")
    assert float(total["high_known_cents"]) == pytest.approx(4.1)
    assert (total["low_unknown"], total["low_borrowed"]) == ("0", "lender")
    assert float(total["low_cents"]) == pytest.approx(0.6)
    assert by_line["training", "tool sim/Small"]["high_cents"] == ""


def test_runs_are_named_where_there_are_several(tmp_path, tally):
    for logged in read_run(write_run(tmp_path / "other", [group(rollout(POLICY))])):
        tally.take("other", logged)
    table = summary_table(tally, VERSIONS)
    assert table.columns[0] == "run"
    assert [row[0] for row in table.rows] == ["run", "run", "other"]
