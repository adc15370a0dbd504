"""Runs a command such as `python train.py` in a process of its own.

The process is forked from one that has loaded the libraries.

Loading torch, Lightning and W&B takes longer than a small run. The server that forks knows none of
the tests, and what a child sees is what a command line sees: arguments, environment, signals.
"""

from __future__ import annotations

import asyncio
import functools
import multiprocessing
import os
import pkgutil
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from hydra._internal.hydra import Hydra

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 300.0
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "tests.integration.command",
        "toolorchestra.run",
        "toolorchestra.evaluate",
        "toolorchestra.synthesize",
        "toolorchestra.command.reprice",
        "reasoning_gym",
        "wandb.sdk.launch",  # which a run of W&B loads last
    ]
)
_WITH_ROOT = ("train.py", "evaluate.py")
"""Scripts that write below `output_root`."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """A command that has ended."""

    status: int
    """Exit status; -9 after SIGKILL."""
    out: str
    err: str


class Command:
    """A command under way; writes its output to files in `folder`."""

    def __init__(
        self,
        folder: Path,
        *overrides: str,
        environment: Mapping[str, str] | None = None,
        interrupt_at: str = "",
        script: str = "train.py",
    ) -> None:
        """Starts it.

        Args:
            folder: For output, and for the runs unless `overrides` say otherwise.
            overrides: Words after the script's name.
            environment: Variables to set.
            interrupt_at: "package.module:name" of the function whose call raises SIGINT.
            script: Lies at the root.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._out, self._err = folder / "out.txt", folder / "err.txt"
        root = [f"output_root={folder}"] if script in _WITH_ROOT else []
        self.process: ForkServerProcess = _CONTEXT.Process(
            target=_run,
            args=(
                [script, *root, *overrides],
                str(self._out),
                str(self._err),
                dict(environment or {}),
                interrupt_at,
            ),
            daemon=True,
        )
        self.process.start()

    def wait(self) -> Done:
        """Waits for its end."""
        self.process.join(TIMEOUT_S)
        assert self.process.exitcode is not None, f"still running: {self._err.read_text()}"
        return Done(
            status=self.process.exitcode, out=self._out.read_text(), err=self._err.read_text()
        )

    async def ended(self) -> Done:
        """Waits for its end while the event loop, a server's perhaps, goes on."""
        return await asyncio.to_thread(self.wait)


def _run(
    arguments: Sequence[str], out: str, err: str, environment: Mapping[str, str], interrupt_at: str
) -> None:
    os.setsid()
    for path, number in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.environ.update(environment)
    if interrupt_at:
        # a shell starts background jobs deaf to Ctrl-C, and the tests may run in one
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _interrupt(interrupt_at)
    # Hydra would compose everything once more, to see that no file of conf/ sets hydra.mode
    Hydra.get_mode = lambda *_, **__: None
    os.chdir(ROOT)
    sys.argv = list(arguments)
    runpy.run_path(str(ROOT / arguments[0]), run_name="__main__")


def _interrupt(target: str) -> None:
    """Makes a call of `target` press Ctrl-C: the whole process group hears it, as on a terminal."""
    module, _, name = target.partition(":")
    owner_name, _, attribute = f"{module}.{name}".rpartition(".")
    owner: Any = pkgutil.resolve_name(owner_name)
    real = getattr(owner, attribute)

    @functools.wraps(real)
    def pressing(*arguments: Any, **options: Any) -> Any:
        setattr(owner, attribute, real)
        os.killpg(0, signal.SIGINT)
        return real(*arguments, **options)

    setattr(owner, attribute, pressing)


def run_dirs(folder: Path) -> list[Path]:
    """Folders of the single runs below an output root."""
    return sorted((folder / "runs").glob("*"))
