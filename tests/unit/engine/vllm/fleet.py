"""Policies that the stand-in can sample from, and workers whose servers it stands for."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from tests.unit.engine.tiny_model import make_request
from tests.unit.engine.vllm import stand_in
from tests.unit.engine.vllm.stand_in import StandInVllm

from toolorchestra.engine.base import Completion
from toolorchestra.engine.vllm import engine as vllm_engine
from toolorchestra.engine.vllm import worker as vllm_worker
from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.engine import VllmEngine
from toolorchestra.engine.vllm.probe import Weights
from toolorchestra.engine.vllm.process import VllmProcess
from toolorchestra.engine.vllm.weights import WeightFolders, logprobs_of
from toolorchestra.engine.vllm.worker import VllmWorker
from toolorchestra.process import free_port

VOCABULARY = 8
END_ID = 7
PROBE_IDS = (1, 2, 3, 5)
STAND_IN = str(Path(stand_in.__file__))


class RowPolicy(torch.nn.Module):
    """Draws every token from the softmax of one row; each version has another row."""

    def __init__(self, version: int) -> None:
        super().__init__()
        random = torch.Generator().manual_seed(version)
        self.row = torch.nn.Parameter(torch.randn(VOCABULARY, generator=random))
        self.dtype, self.device = torch.float32, torch.device("cpu")
        self.config = SimpleNamespace(tie_word_embeddings=False, to_diff_dict=dict)

    def forward(self, input_ids: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.row.expand(*input_ids.shape, -1))

    def logprob(self, token: int) -> float:
        return float(torch.log_softmax(self.row.detach(), dim=-1)[token])


def make_weights(root: Path, version: int, policy: RowPolicy | None = None) -> Weights:
    """A version written down for workers; they are held to `policy`'s log-probabilities."""
    folder = WeightFolders(root / "weights").write(RowPolicy(version), version)
    expected = logprobs_of(policy or RowPolicy(version), list(PROBE_IDS))
    return Weights(
        folder=folder, version=version, probe_ids=PROBE_IDS, probe_logprobs=tuple(expected)
    )


class FakeProcess:
    """A stand-in in the test's own event loop, with the ways of a `VllmProcess`."""

    pid = 0

    def __init__(self, server: StandInVllm) -> None:
        self.server, self.error, self.has_ended = server, "RuntimeError: made up", False
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._start = asyncio.get_running_loop().create_task(server.start(port))

    def is_running(self) -> bool:
        return not self.has_ended

    def was_killed(self) -> bool:
        return False

    async def aend(self) -> None:
        """Ends as if it had failed."""
        self.has_ended = True
        await self._start
        await self.server.stop()

    def last_error(self) -> str:
        return self.error


class Fleet:
    """Starts one worker's servers, one after the other: the newest is `server`."""

    def __init__(self) -> None:
        self.started: list[FakeProcess] = []
        self.prepare: Callable[[StandInVllm], Any] = lambda server: None
        """Is shown every server before it starts."""

    def __call__(self, folder: Path) -> FakeProcess:
        server = StandInVllm(folder)
        self.prepare(server)
        self.started.append(FakeProcess(server))
        return self.started[-1]

    @property
    def server(self) -> StandInVllm:
        return self.started[-1].server

    async def kill(self) -> None:
        """The newest server dies."""
        await self.started[-1].aend()


def real_process(
    folder: Path, *, log: Path, env: Mapping[str, str] | None = None, arguments: Any = ()
) -> VllmProcess:
    """A stand-in as a process of its own."""
    command = [sys.executable, STAND_IN, "--model", str(folder), *arguments]
    return VllmProcess(command, env=env or {}, log=log, port=free_port())


def make_worker(
    start: Callable[[Path], Any] | None, url: str = "", min_context: int = 64, **options: Any
) -> VllmWorker:
    config = VllmConfig(**({"start_timeout_s": 30.0, "request_timeout_s": 30.0} | options))
    return VllmWorker(
        url or "worker 0",
        config,
        start=start,
        url=url,
        max_logprob_gap=1e-3,
        min_context=min_context,
    )


@asynccontextmanager
async def working(
    start: Callable[[Path], Any] | None = None, **options: Any
) -> AsyncIterator[tuple[VllmWorker, Fleet]]:
    """A worker that is closed at the end, and the fleet of its servers."""
    fleet = Fleet()
    worker = make_worker(None if "url" in options else start or fleet, **options)
    with patch.object(vllm_worker, "POLL_S", 0.01):
        try:
            yield worker, fleet
        finally:
            await worker.close()


async def sampled(worker: VllmWorker) -> Completion:
    """What a worker answers once it is ready."""
    await worker.wait_ready()
    return await worker.server.generate(make_request((1,)), end_id=END_ID)


@asynccontextmanager
async def engine_of(
    root: Path,
    *starts: Callable[[Path], Any],
    sleeps: bool = False,
    transfer: Any = None,
    **options: Any,
) -> AsyncIterator[VllmEngine]:
    """An engine with a worker for each of `starts`, which is closed at the end."""
    engine = VllmEngine(
        [make_worker(start, **options) for start in starts],
        end_id=END_ID,
        folders=WeightFolders(root / "weights"),
        probe_ids=PROBE_IDS,
        sleeps=sleeps,
        transfer=transfer,
    )
    with patch.object(vllm_worker, "POLL_S", 0.01), patch.object(vllm_engine, "RETRY_S", 0.01):
        try:
            yield engine
        finally:
            await engine.close()


async def until(condition: Callable[[], object], *, timeout_s: float = 30.0) -> None:
    """Waits for something to come about."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.005)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be taken note of does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def group_of(pid: int) -> list[int]:
    """The living processes of a group."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [one for one in pids if is_alive(one) and _group(one) == pid]


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
