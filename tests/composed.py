"""Composes configs in this process, as the command line would."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import cast

from hydra import compose, initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from toolorchestra.config import Config, register
from toolorchestra.domain.load import SHIPPED

CONF = Path(__file__).parents[1] / "conf"


def composed(
    *overrides: str, output_dir: str | Path | None = "unused", command: str = "train"
) -> DictConfig:
    """The config of `python <command>.py <overrides>`."""
    return _composed(command, _words(overrides, output_dir))


def _words(overrides: tuple[str, ...], output_dir: str | Path | None) -> tuple[str, ...]:
    own = [] if output_dir is None else [f"output_dir={output_dir}"]
    return (*own, *overrides)


def _composed(command: str, overrides: tuple[str, ...]) -> DictConfig:
    """Chosen options are composed, then values are set, both as Hydra does."""
    chosen = tuple(word for word in overrides if _chooses(word))
    config = copy.deepcopy(_chosen(command, chosen))
    values = [word for word in overrides if not _chooses(word)]
    parsed = OverridesParser.create().parse_overrides(values)
    ConfigLoaderImpl._apply_overrides_to_config(parsed, config)
    return config


def _chooses(override: str) -> bool:
    """Whether it names an option of a group, not a value."""
    key = override.lstrip("+~").partition("=")[0]
    return "@" in key or "/" in key or (CONF / key).is_dir()


@cache
def _chosen(command: str, overrides: tuple[str, ...]) -> DictConfig:
    """Takes two seconds, hence once for all tests of a process."""
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose(command, overrides=list(overrides))


def options_of(*overrides: str) -> Config:
    """The same as checked dataclasses."""
    return cast(Config, OmegaConf.to_object(_composed("train", _words(overrides, "unused"))))


def names(group: str) -> list[str]:
    """Options of a group."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def only(domain: str) -> str:
    """Weights that leave out all other domains, as what is given is merged with what ships."""
    return "{" + ", ".join(f"{name}: {int(name == domain)}" for name in SHIPPED) + "}"
