"""Report on finished runs: python report.py reprice|compare|turns RUN_DIR... (--help says more)."""

from __future__ import annotations

import argparse
import sys

from toolorchestra.entry.plainly import plainly


def main() -> int:
    """Runs the command that the first word names; returns the exit status."""
    from toolorchestra.command import compare, reprice, turns

    parser = argparse.ArgumentParser(description="Reports on finished runs.")
    commands = parser.add_subparsers(title="commands", required=True)
    told = "what their rollouts cost, recomputed from the log under any pricing"
    reprice.add_arguments(commands.add_parser("reprice", help=told, description=told))
    told = "two policies on the same episodes: paired differences, intervals and tests"
    compare.add_arguments(commands.add_parser("compare", help=told, description=told))
    told = "accuracy over cost by turns allowed, of one greedy run or of several"
    turns.add_arguments(commands.add_parser("turns", help=told, description=told))
    arguments = parser.parse_args()
    return int(arguments.run(arguments))


if __name__ == "__main__":
    with plainly("no run was changed; the same command starts anew"):
        sys.exit(main())
