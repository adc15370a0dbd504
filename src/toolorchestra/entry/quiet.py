"""Leaves the terminal to the run's own lines; to be called before the libraries are loaded."""

from __future__ import annotations

import logging
import warnings

_CHATTY = (
    "faiss.loader", "httpx2", "lightning.pytorch", "lightning.fabric", "lightning_utilities",
)  # fmt: skip


def quieten_libraries() -> None:
    """Silences what libraries say of themselves below a warning, and warnings without cause."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    # an exported policy's temperature is for vLLM; transformers says that it has no use for it
    logging.getLogger("transformers.generation.configuration_utils").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated")
    # the module itself knows its step, see `toolorchestra.trainer.module`
    warnings.filterwarnings("ignore", message=".*your dataloader is not resumable")
    # on a login node nothing is to be started by Slurm, and in a job its launcher has seen to it
    warnings.filterwarnings("ignore", message="The `srun` command is available")
