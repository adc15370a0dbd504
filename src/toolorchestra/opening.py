"""How a command begins: its options are checked, and it has a folder of its own to write to."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import torch
from lightning import seed_everything
from omegaconf import DictConfig, OmegaConf
from transformers.utils.logging import disable_progress_bar

from toolorchestra.config import PlayConfig
from toolorchestra.discovery import discover, keep_found
from toolorchestra.entry.plainly import keeping_traceback
from toolorchestra.entry.quiet import quieten_libraries
from toolorchestra.entry.run_dir import (
    Identity,
    all_but_places,
    discard_if_empty,
    open_run_dir,
)
from toolorchestra.provider.cassette import Cassette

log = logging.getLogger(__name__)

C = TypeVar("C", bound=PlayConfig)


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening(Generic[C]):
    """What a command has to go on."""

    options: C
    resolved: dict[str, Any]
    """The same as plain data."""
    run_dir: Path
    cassette: Cassette
    """What outside services answer, written down or read back."""


@contextlib.contextmanager
def opened(
    config: DictConfig,
    *,
    check: Callable[[C], Sequence[str]],
    resume: str | None = None,
    identity: Identity = all_but_places,
    goes_on: bool = False,
) -> Iterator[Opening[C]]:
    """A context in which a command works; whatever ends it early leaves a traceback in its folder.

    Args:
        config: As composed.
        check: Looks at the options together; raises ValueError, or returns what is worth a word.
        resume: None, "auto", or the folder of the run to go on with.
        identity: What of the config makes a run the same run.
        goes_on: Whether a run that the folder holds already is gone on with.

    Raises:
        ValueError: The config, a file that it names or the machine does not allow the run; the
            message says what to do.
    """
    resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    try:
        options = cast(C, OmegaConf.to_object(config))
        notes = check(options)
        cassette = Cassette(options.provider.cassette)
        options, found = discover(options, cassette)
        if found:  # their tools are to be checked as well
            notes = check(options)
        run_dir, claimed = open_run_dir(
            Path(options.output_dir),
            resolved,
            resume=resume,
            config_text=OmegaConf.to_yaml(OmegaConf.create(resolved)),
            identity=identity,
            goes_on=goes_on,
        )
    except ValueError:
        discard_if_empty(Path(resolved["output_dir"]))
        raise
    with claimed, keeping_traceback(run_dir):
        keep_found(run_dir, found)
        for note in notes:
            log.info(note)
        log.info("writing to %s", run_dir)
        quieten_libraries()  # again, as Lightning sets its own level when it is loaded
        disable_progress_bar()  # type: ignore[no-untyped-call]
        seed_everything(options.seed, verbose=False)
        yield Opening(options=options, resolved=resolved, run_dir=run_dir, cassette=cassette)


def use_threads(num_threads: int, *, num_processes: int = 1) -> None:
    """Sets how many CPU threads torch has.

    Args:
        num_threads: 0: as many as OMP_NUM_THREADS says, or else one for each core.
        num_processes: Among which the cores are shared out.
    """
    told = int(os.environ.get("OMP_NUM_THREADS") or 0)
    shared = max((os.cpu_count() or 1) // num_processes, 1)
    torch.set_num_threads(num_threads or told or shared)
