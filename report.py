"""Report on runs: python report.py RUN_DIR..., or with the name of a command before."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from toolorchestra.entry.plainly import plainly

COMMANDS = {
    "page": "one HTML file with curves, tables and all trajectories of runs",
    "table": "the tables and pictures of experiments/, or of one of its folders",
    "compare": "two policies on the same episodes: paired differences and tests",
    "turns": "accuracy over cost by turns allowed, of one greedy run or of several",
    "reprice": "what rollouts cost, recomputed from the log under any pricing",
    "rescore": "an evaluation under another judge, of what is recorded",
}
"""Each a module of `toolorchestra.command`, loaded if it is asked for."""


def main(words: Sequence[str]) -> int:
    """Runs the command that the first word names; returns the exit status."""
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        words = [_meant(words[0]), *words]
    parser = argparse.ArgumentParser(
        description="Reports on runs.",
        epilog="A run's folder alone means page, one of experiments/ table.",
    )
    parsers = parser.add_subparsers(title="commands", required=True)
    for word, told in COMMANDS.items():
        own = parsers.add_parser(word, help=told, description=told)
        if words and word == words[0]:
            import_module(f"toolorchestra.command.{word}").add_arguments(own)
    arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


def _meant(folder: str) -> str:
    """The command for a folder that stands where a command's name is expected."""
    from toolorchestra.experiment.declared import is_experiment

    return "table" if is_experiment(Path(folder)) else "page"


if __name__ == "__main__":
    with plainly("finished runs are as they were; the same command goes on"):
        sys.exit(main(sys.argv[1:]))
