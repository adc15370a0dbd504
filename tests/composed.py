"""Composes configs in this process, as the command line would."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from toolorchestra.config import Config, register

CONF = Path(__file__).parents[1] / "conf"


def composed(
    *overrides: str, output_dir: str | Path | None = "unused", command: str = "train"
) -> DictConfig:
    """The config of `python <command>.py <overrides>`."""
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        place = [f"output_dir={output_dir}"] if output_dir else []
        return compose(command, overrides=[*place, *overrides])


def options_of(*overrides: str) -> Config:
    """The same as checked dataclasses."""
    return cast(Config, OmegaConf.to_object(composed(*overrides)))


def names(group: str) -> list[str]:
    """Options of a group."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))
