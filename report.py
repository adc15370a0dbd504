"""Report on finished runs: python report.py reprice|rescore RUN_DIR... [GROUP=OPTION]."""

from __future__ import annotations

import argparse
import sys

from toolorchestra.launch.plainly import plainly


def main() -> int:
    """Runs the command that the first word names; returns the exit status."""
    from toolorchestra.command import reprice, rescore

    parser = argparse.ArgumentParser(description="Reports on finished runs.")
    commands = parser.add_subparsers(title="commands", required=True)
    told = "what their rollouts cost, recomputed from the log under any pricing"
    reprice.add_arguments(commands.add_parser("reprice", help=told, description=told))
    told = "what an evaluation comes to under another judge, of the rollouts that are recorded"
    rescore.add_arguments(commands.add_parser("rescore", help=told, description=told))
    arguments = parser.parse_args()
    return int(arguments.run(arguments))


if __name__ == "__main__":
    with plainly("no run was changed; the same command goes on"):
        sys.exit(main())
