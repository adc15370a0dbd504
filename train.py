"""Train an orchestrator: python train.py [toolset=unseen] [pricing=alt] [-m]."""

from __future__ import annotations

import sys

import hydra
from omegaconf import DictConfig

from toolorchestra.config import register

register()


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(config: DictConfig) -> None:
    """Runs one training; see `toolorchestra.run`."""
    from toolorchestra.run import train

    train(config)


if __name__ == "__main__":
    sys.exit(main())
