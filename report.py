"""Report on finished runs: python report.py RUN_DIR..., or with the name of a command before."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from toolorchestra.launch.plainly import plainly

DEFAULT = "page"
"""The command where the first word names none."""


def main(words: Sequence[str]) -> int:
    """Runs the command that the first word names; returns the exit status."""
    from toolorchestra.command import page, reprice

    parser = argparse.ArgumentParser(
        description="Reports on runs.",
        epilog=f"Where the first word is the folder of a run, the command is {DEFAULT}.",
    )
    commands = parser.add_subparsers(title="commands", required=True)
    told = "one HTML file with curves, tables and all trajectories of one run or of several"
    page.add_arguments(commands.add_parser("page", help=told, description=told))
    told = "what their rollouts cost, recomputed from the log under any pricing"
    reprice.add_arguments(commands.add_parser("reprice", help=told, description=told))
    is_default = words and words[0] not in commands.choices and not words[0].startswith("-")
    arguments = parser.parse_args([DEFAULT, *words] if is_default else words)
    return int(arguments.run(arguments))


if __name__ == "__main__":
    with plainly("no run was changed; the same command starts anew"):
        sys.exit(main(sys.argv[1:]))
