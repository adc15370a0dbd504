"""Starts the servers of a toolset's open-weight experts as jobs, tells of them, and stops them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import cast

from omegaconf import DictConfig, OmegaConf

from toolorchestra.config import ServeConfig
from toolorchestra.report.shown import show_table
from toolorchestra.server.choose import choose, served_elsewhere
from toolorchestra.server.start import start
from toolorchestra.server.status import status_table
from toolorchestra.server.stop import stop

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
"""The project, as it is checked out."""


def serve(config: DictConfig) -> None:
    """Does what `action` says.

    Raises:
        ValueError: The config, the machine or the cluster does not allow it.
        ConnectionError: The cluster does not answer at the moment.
    """
    options = cast(ServeConfig, OmegaConf.to_object(config))
    ACTIONS[options.action](options)


def _start(options: ServeConfig) -> None:
    services = choose(options.server, options.toolset, options.only)
    start(Path(options.registry), options.server, services, options.launcher, source=ROOT)
    elsewhere = served_elsewhere(options.server, options.toolset)
    if elsewhere and not options.only:
        log.info("not served here: %s", ", ".join(elsewhere))
    log.info("python serve.py registry=%s action=status|stop", options.registry)


def _status(options: ServeConfig) -> None:
    show_table(status_table(Path(options.registry)))


def _stop(options: ServeConfig) -> None:
    only = choose(options.server, options.toolset, options.only) if options.only else None
    stop(Path(options.registry), only)


ACTIONS = {"start": _start, "status": _status, "stop": _stop}
