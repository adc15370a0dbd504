"""A rank beside the first: python -m toolorchestra.follow RUN_DIR.

It plays nothing, logs nothing and evaluates nothing; its part of each update is all that it does.
Launchers start it with the variables that name its rank and where the first one listens.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import cast

from toolorchestra.entry.quiet import quieten_libraries

quieten_libraries()

from lightning import seed_everything  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402

from toolorchestra.build import build_module  # noqa: E402
from toolorchestra.config import Config  # noqa: E402
from toolorchestra.entry.plainly import plainly  # noqa: E402
from toolorchestra.entry.run_dir import CONFIG_FILE  # noqa: E402
from toolorchestra.model.policy import load_policy  # noqa: E402
from toolorchestra.opening import use_threads  # noqa: E402
from toolorchestra.trainer.fit import checkpoints_of, fit  # noqa: E402

CONFIG_S = 300.0
"""How long the first rank may take to write its options."""


def await_config(run_dir: Path) -> None:
    """Waits for the first rank, which a launcher may have started at the same moment.

    Raises:
        ValueError: It has not written its options in time.
    """
    deadline = time.monotonic() + CONFIG_S
    while not (run_dir / CONFIG_FILE).exists():
        if time.monotonic() > deadline:
            raise ValueError(f"{run_dir / CONFIG_FILE} is still missing after {CONFIG_S:.0f} s")
        time.sleep(0.2)


def follow(run_dir: Path) -> None:
    """Trains along with the first rank, whose folder this is."""
    await_config(run_dir)
    written = OmegaConf.merge(OmegaConf.structured(Config), OmegaConf.load(run_dir / CONFIG_FILE))
    options = cast(Config, OmegaConf.to_object(written))
    use_threads(options.trainer.num_threads, num_processes=options.trainer.devices)
    seed_everything(options.seed, verbose=False)
    model, _ = load_policy(options.model)
    checkpoints = checkpoints_of(
        run_dir, options.trainer, model=model.config, dtype=options.model.dtype
    )
    fit(
        build_module(options, model, outside=None),
        options.trainer,
        dtype=options.model.dtype,
        checkpoints=checkpoints,
        resume_from=checkpoints.newest(),
    )


if __name__ == "__main__":
    with plainly("the first rank says how to go on"):
        follow(Path(sys.argv[1]))
