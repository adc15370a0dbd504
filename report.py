"""Report on finished runs: python report.py reprice RUN_DIR... [pricing=alt] [out=FOLDER].

The tables of experiments/: python report.py table experiments/table1 [--make].
"""

from __future__ import annotations

import argparse
import sys

from toolorchestra.launch.plainly import plainly


def main() -> int:
    """Runs the command that the first word names; returns the exit status."""
    from toolorchestra.command import reprice, tables

    parser = argparse.ArgumentParser(description="Reports on finished runs.")
    commands = parser.add_subparsers(title="commands", required=True)
    told = "what their rollouts cost, recomputed from the log under any pricing"
    reprice.add_arguments(commands.add_parser("reprice", help=told, description=told))
    told = "the tables and pictures of experiments/, or of one of its folders"
    tables.add_arguments(commands.add_parser(tables.WORD, help=told, description=told))
    arguments = parser.parse_args(tables.with_word(sys.argv[1:]))
    return int(arguments.run(arguments))


if __name__ == "__main__":
    with plainly("finished runs are as they were; the same command goes on"):
        sys.exit(main())
