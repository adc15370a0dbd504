"""Hydra's way to launch a sweep as jobs; the work is done in `toolorchestra.sweep`.

Hydra takes plugins from the package `hydra_plugins` alone, and imports them all at every start.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from omegaconf import DictConfig, OmegaConf, open_dict


class SubmititLauncher(Launcher):
    """Submits all points at once; ends the process with a status that is not 0 where one failed."""

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        """Takes what Hydra has composed so far."""
        self._context, self._config = hydra_context, config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Launches one point for each set of overrides."""
        from toolorchestra.sweep import launch

        configs = [self._compose(number, words) for number, words in enumerate(job_overrides)]
        status = launch(configs, job_overrides, Path(str(self._config.hydra.sweep.dir)))
        if status:
            sys.exit(status)
        return []

    def _compose(self, number: int, words: Sequence[str]) -> DictConfig:
        """One point's config, as a job would see it."""
        config: DictConfig = self._context.config_loader.load_sweep_config(
            self._config, list(words)
        )
        with open_dict(config):
            config.hydra.job.id = config.hydra.job.num = number
            config.hydra.runtime.output_dir = str(Path(config.hydra.sweep.dir) / str(number))
            HydraConfig.instance().set_config(config)
            del config["hydra"]
        OmegaConf.resolve(config)
        return config
