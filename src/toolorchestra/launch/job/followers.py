"""The ranks beside the first on this machine: started, watched, and ended with it.

Each is `python -m toolorchestra.follow RUN_DIR`, which reads the options that the first rank wrote
there. So nothing depends on how the first was started, be it one point of a sweep.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from toolorchestra.process import dies_with_parent, free_port

END_S, GRACE_S, NOTICE_S = 20.0, 20.0, 3.0
"""How long a rank may take to end before it is killed, the first to notice that one died, and one
that died to be seen as dead."""
LOST = 1
"""Exit status of a first rank that lost another."""


class Followers:
    """A context within which the other ranks live."""

    def __init__(self, run_dir: Path, *, num_ranks: int, num_nodes: int = 1) -> None:
        """Takes where the run writes, and how many ranks it has in all, on how many machines."""
        self._run_dir, self._num_ranks, self._num_nodes = run_dir, num_ranks, num_nodes
        self._processes: list[subprocess.Popen[bytes]] = []
        self._is_over = threading.Event()
        self._before: dict[str, str | None] = {}

    def __enter__(self) -> Followers:
        """Starts them, unless a launcher has started all ranks of this run.

        Raises:
            ValueError: It has started another number of them, or none on other machines.
        """
        launched = int(os.environ.get("WORLD_SIZE", "0"))
        if launched not in (0, self._num_ranks):
            raise ValueError(
                f"trainer.devices x trainer.num_nodes: {self._num_ranks} is not allowed here; a "
                f"launcher has started {launched} ranks (WORLD_SIZE)"
            )
        if self._num_nodes > 1 and not launched:
            raise ValueError(
                f"trainer.num_nodes: {self._num_nodes} is not allowed on one machine; use "
                "launcher=slurm"
            )
        if self._num_ranks > 1 and not launched:
            place = {
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(free_port()),
                "WORLD_SIZE": str(self._num_ranks),
                "NODE_RANK": "0",
            }
            self._set(place | {"LOCAL_RANK": "0"})
            for rank in range(1, self._num_ranks):
                self._start(rank, place)
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the other ranks.

        Raises:
            ValueError: What broke off the first was that another had died.
        """
        self._is_over.set()
        lost = self._find_lost() if isinstance(error, RuntimeError) else None
        for process in self._processes:
            if kind is not None:
                process.kill()  # it has nothing to lose
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for key, value in self._before.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value
        if lost:
            raise ValueError(f"{lost}; then use resume=auto") from error

    def _find_lost(self) -> str:
        """What is to be said of a rank that has died, or dies at once."""
        deadline = time.monotonic() + NOTICE_S
        while time.monotonic() < deadline:
            for rank, process in enumerate(self._processes, start=1):
                if process.poll():
                    return (
                        f"rank {rank} ended with status {process.returncode}; {self.log(rank)} "
                        "says why"
                    )
            time.sleep(0.05)
        return ""

    def _set(self, place: Mapping[str, str]) -> None:
        self._before = {key: os.environ.get(key) for key in place}
        os.environ.update(place)

    def _start(self, rank: int, place: Mapping[str, str]) -> None:
        with self.log(rank).open("ab") as output:
            self._processes.append(
                subprocess.Popen(
                    [
                        *dies_with_parent("KILL"),
                        *(sys.executable, "-m", "toolorchestra.follow", str(self._run_dir)),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **place, "LOCAL_RANK": str(rank)},
                )
            )

    def log(self, rank: int) -> Path:
        """Where a rank writes what it has to say."""
        return self._run_dir / f"rank_{rank}.log"

    def _watch(self) -> None:
        """Ends the run when a rank has died: collective operations may wait for it for hours."""
        while not self._is_over.wait(0.5):
            for process in self._processes:
                if process.poll():
                    self._give_up()
                    return

    def _give_up(self) -> None:
        if self._is_over.wait(GRACE_S):  # the first has noticed
            return
        with contextlib.suppress(OSError):
            sys.stderr.write(f"error: {self._find_lost()}; then use resume=auto\n")
        for process in self._processes:
            process.kill()
        os._exit(LOST)
