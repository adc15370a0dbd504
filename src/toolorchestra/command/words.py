"""The words after a command of report.py: folders, and overrides of the command's options."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from toolorchestra.config import register

CONF = Path(__file__).parents[3] / "conf"
"""The options of the project, as it is checked out."""
T = TypeVar("T")
_OVERRIDE = re.compile(r"[+~]*[\w./@]+=")


def split(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The folders among the words, and the overrides."""
    overrides = [word for word in words if _OVERRIDE.match(word) and not Path(word).is_dir()]
    return [Path(word) for word in words if word not in overrides], overrides


def common_folder(paths: Sequence[Path]) -> Path:
    """The folder itself, or the one that holds them all."""
    return Path(os.path.commonpath([path.resolve() for path in paths]))


def options_of(name: str, overrides: Sequence[str], *, advice: str) -> Any:
    """The checked options of `conf/NAME.yaml` under these overrides.

    Args:
        name: Of the file.
        overrides: As Hydra takes them.
        advice: What to use instead of a word that is not allowed.

    Raises:
        ValueError: An override is not allowed.
    """
    return composed(name, overrides, OmegaConf.to_object, advice=advice)


def composed(
    name: str, overrides: Sequence[str], read: Callable[[DictConfig], T], *, advice: str
) -> T:
    """What `read` makes of `conf/NAME.yaml` under these overrides; see `options_of`."""
    register()
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return read(compose(name, list(overrides)))
    except (HydraException, OmegaConfBaseException) as error:
        reasons = [str(error).partition("Config search path")[0], str(error.__cause__ or "")]
        told = " ".join(" ".join(reasons).split())
        raise ValueError(f"{told}; use {advice}") from error
