"""What `dry_run.gpu` makes of the command: tables, and a refusal where something is too big."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from toolorchestra.config import Config
from toolorchestra.dry_run.advice import refuse_unless_it_fits
from toolorchestra.dry_run.reckon import reckon
from toolorchestra.dry_run.tables import tables_of
from toolorchestra.entry.run_dir import discard_if_empty
from toolorchestra.report.shown import NARROW, show_table
from toolorchestra.worlds import check_worlds


def dry_run(config: DictConfig) -> None:
    """Prints what a run would need, and leaves nothing behind.

    Raises:
        ValueError: It does not fit, or its options are at fault; the message says what to change.
    """
    try:
        if HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN:
            raise ValueError("dry_run.gpu: not allowed in a sweep; ask for one of its points")
        options = cast(Config, OmegaConf.to_object(config))
        check_worlds(options)
        reckoning = reckon(options)
        for table in tables_of(reckoning):
            show_table(table, width=NARROW)
        refuse_unless_it_fits(reckoning)
    finally:
        discard_if_empty(Path(config.output_dir))
