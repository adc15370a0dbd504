"""What all scripts here share: their common options, and figures as a last line of JSON."""

from __future__ import annotations

import argparse
import json
import os

import torch

from benchmarks.rollout.workload import NUM_GROUPS


def add_common(parser: argparse.ArgumentParser) -> None:
    """Adds the options that every side must be given alike."""
    parser.add_argument("--groups", type=int, default=NUM_GROUPS, help="groups of 8 rollouts")
    parser.add_argument("--threads", type=int, default=1, help="torch's, in the trainer's process")


def begin(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Reads the options and sets what must be set before anything is computed."""
    options = parser.parse_args()
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    torch.set_num_threads(options.threads)
    return options


def tell(**figures: float) -> None:
    """Prints figures as one line of JSON: the script's last."""
    print(json.dumps({name: round(value, 6) for name, value in figures.items()}), flush=True)
