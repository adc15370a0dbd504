"""The words after a command of report.py: folders, and overrides of the command's options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from toolorchestra.config import register

CONF = Path(__file__).parents[3] / "conf"
"""The options of the project, as it is checked out."""
_OVERRIDE = re.compile(r"[+~]*[\w./@]+=")


def split(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The folders among the words, and the overrides."""
    overrides = [word for word in words if _OVERRIDE.match(word) and not Path(word).is_dir()]
    return [Path(word) for word in words if word not in overrides], overrides


def options_of(name: str, overrides: Sequence[str], *, advice: str) -> Any:
    """The checked options of `conf/NAME.yaml` under these overrides.

    Args:
        name: Of the file.
        overrides: As Hydra takes them.
        advice: What to use instead of a word that is not allowed.

    Raises:
        ValueError: An override is not allowed.
    """
    register()
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return OmegaConf.to_object(compose(name, list(overrides)))
    except (HydraException, OmegaConfBaseException) as error:
        reasons = [str(error).partition("Config search path")[0], str(error.__cause__ or "")]
        told = " ".join(" ".join(reasons).split())
        raise ValueError(f"{told}; use {advice}") from error
