"""Writes one HTML file about one run, or about several side by side."""

from __future__ import annotations

import argparse
from pathlib import Path

from toolorchestra.command.words import common_folder
from toolorchestra.page.document import MARK, document
from toolorchestra.page.gather import gather
from toolorchestra.report.files import replace_text

FILE = "report.html"
_OUT = "out="


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what `report.py page` takes, and that `run` does it."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="RUN_DIR | out=FILE",
        help=f"folders of runs, finished or not; out=FILE, where the page goes: by default {FILE} "
        "in the folder of the run, or in the one that holds all runs",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Reads the runs and writes the page; returns the exit status.

    Raises:
        ValueError: No runs, a folder that holds none, or a file that is not to be written over.
    """
    outs = [word.removeprefix(_OUT) for word in arguments.words if word.startswith(_OUT)]
    run_dirs = [Path(word) for word in arguments.words if not word.startswith(_OUT)]
    if not run_dirs:
        raise ValueError("report.py page: no run is given; name the folder of at least one")
    if len(outs) > 1 or "" in outs:
        raise ValueError(f"out: {', '.join(outs) or 'nothing'} is not allowed; use one file")
    gathered = gather(run_dirs)
    out = Path(outs[0]) if outs else common_folder(run_dirs) / FILE
    _check(out)
    text = document(gathered)
    try:
        replace_text(out, text)
    except OSError as error:
        raise ValueError(
            f"out: cannot write {out} ({error.strerror}); use a file of your own, out=FILE"
        ) from error
    num = sum(item["num_trajectories"] for item in gathered.runs)
    told = f"{len(gathered.runs)} run{'s' * (len(gathered.runs) > 1)}, {num:,} trajectories"
    print(f"{told}, {len(text) / 1e6:.1f} MB: {out}", flush=True)
    return 0


def _check(out: Path) -> None:
    """Refuses to write over what is no report."""
    if out.is_dir():
        raise ValueError(f"out: {out} is a folder; use a file, e.g. out={out / FILE}")
    if out.exists():
        with out.open("rb") as file:
            if MARK.encode() not in file.read(1000):
                raise ValueError(f"out: {out} exists and is no report; use another file")
