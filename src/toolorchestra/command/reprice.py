"""Recomputes the costs of finished runs from their logs, under any pricing."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from toolorchestra.command.words import common_folder, options_of, split
from toolorchestra.config import RepriceConfig
from toolorchestra.entry.plainly import FAULT
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.report.audit import MAX_DIFFERENCE_USD, Audit
from toolorchestra.report.files import replace_text
from toolorchestra.report.logged import read_run
from toolorchestra.report.reprice import file_table, split_table, summary_table
from toolorchestra.report.shown import show_table
from toolorchestra.report.tally import Tally


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what `report.py reprice` takes, and that `run` does it."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="RUN_DIR | KEY=VALUE",
        help="folders of runs; pricing=alt, or any other option of conf/pricing; out=FOLDER, where "
        "reprice.csv, .md and .tex go: by default the folder of the run, or of all runs",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Reprices, prints and writes what came of it; returns the exit status.

    Raises:
        ValueError: No runs, a pricing that is not allowed, or a log that cannot be read.
    """
    run_dirs, overrides = split(arguments.words)
    if not run_dirs:
        raise ValueError("report.py reprice: no run is given; name the folder of at least one")
    advice = "pricing=NAME, pricing.KEY=VALUE or out=FOLDER"
    options = cast(RepriceConfig, options_of("reprice", overrides, advice=advice))
    tally, audit = read_all(run_dirs, options.pricing)
    versions = {name: item.version for name, item in options.pricing.schedules.items()}
    tables = [split_table(tally, versions), summary_table(tally, versions)]
    out = Path(options.out) if options.out else common_folder(run_dirs)
    pages = [table.to_markdown() for table in reversed(tables)]
    _write(out / "reprice.md", "\n".join([*pages, f"{audit.told()}.\n"]))
    _write(out / "reprice.tex", "\n".join(table.to_latex() for table in reversed(tables)))
    _write(out / "reprice.csv", file_table(tally).to_csv())
    for table in tables:
        show_table(table)
    told = f"kept in {out / 'reprice.md'}, reprice.csv and reprice.tex"
    print(f"{audit.told()}\n{told}", flush=True)
    if audit.is_right:
        return 0
    print(
        f"error: the ledger does not add up: costs differ by up to {audit.largest_usd:.3g} USD, "
        f"more than {MAX_DIFFERENCE_USD:g}, at {audit.where}",
        file=sys.stderr,
    )
    return FAULT


def read_all(run_dirs: Sequence[Path], pricing: PricingConfig) -> tuple[Tally, Audit]:
    """Reprices and checks all rollouts of the runs.

    Raises:
        ValueError: A folder holds no run, or a log is corrupt.
    """
    tally, audit = Tally(build_price_book(pricing), pricing.draw), Audit()
    common = common_folder(run_dirs)
    for run_dir in run_dirs:
        name = os.path.relpath(run_dir, common) if len(run_dirs) > 1 else run_dir.name
        for logged in read_run(run_dir):
            audit.check(logged)
            tally.take(name, logged)
    return tally, audit


def _write(path: Path, text: str) -> None:
    try:
        replace_text(path, text)
    except OSError as error:
        raise ValueError(
            f"out: cannot write {path} ({error.strerror}); use a folder of your own, out=FOLDER"
        ) from error
