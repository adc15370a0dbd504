"""Goes on with a sweep: python -m toolorchestra.launch status|wait|cancel|resubmit FOLDER."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from toolorchestra.entry.plainly import plainly
from toolorchestra.launch.actions import cancel, resubmit, tell_status, wait
from toolorchestra.launch.cluster import cluster_of
from toolorchestra.launch.sweep import read_sweep


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m toolorchestra.launch", description=__doc__)
    parser.add_argument("action", choices=("status", "wait", "cancel", "resubmit"))
    parser.add_argument("folder", type=Path, help="the sweep's, as its command printed it")
    parser.add_argument("points", type=int, nargs="*", help="numbers; none: all")
    asked = parser.parse_args()
    cluster = cluster_of(read_sweep(asked.folder).launcher.kind)
    if asked.action == "status":
        return tell_status(asked.folder, cluster)
    if asked.action == "wait":
        return wait(asked.folder, cluster)
    change = cancel if asked.action == "cancel" else resubmit
    return change(asked.folder, cluster, asked.points)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    with plainly("the jobs go on; the same command waits again"):
        sys.exit(main())
