"""Report on runs: python report.py RUN_DIR..., or with the name of a command before."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from toolorchestra.entry.plainly import plainly

DEFAULT = "page"
"""The command where the first word names none."""


def main(words: Sequence[str]) -> int:
    """Runs the command that the first word names; returns the exit status."""
    from toolorchestra.command import compare, page, reprice, rescore, tables, turns

    commands = {
        "page": (page, "one HTML file with curves, tables and all trajectories of runs"),
        tables.WORD: (tables, "the tables and pictures of experiments/, or of one of its folders"),
        "compare": (compare, "two policies on the same episodes: paired differences and tests"),
        "turns": (turns, "accuracy over cost by turns allowed, of one greedy run or of several"),
        "reprice": (reprice, "what rollouts cost, recomputed from the log under any pricing"),
        "rescore": (rescore, "an evaluation under another judge, of what is recorded"),
    }
    parser = argparse.ArgumentParser(
        description="Reports on runs.",
        epilog=f"A run's folder alone means {DEFAULT}, one of experiments/ {tables.WORD}.",
    )
    parsers = parser.add_subparsers(title="commands", required=True)
    for word, (command, told) in commands.items():
        command.add_arguments(parsers.add_parser(word, help=told, description=told))
    if words and words[0] not in commands and not words[0].startswith("-"):
        word = tables.WORD if tables.is_meant(words[0]) else DEFAULT
        words = [word, *words]
    arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


if __name__ == "__main__":
    with plainly("finished runs are as they were; the same command goes on"):
        sys.exit(main(sys.argv[1:]))
