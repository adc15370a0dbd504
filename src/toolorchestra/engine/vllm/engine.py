"""Samples from vLLM workers: each rollout stays with one, and leaves it only if it breaks."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from transformers import PreTrainedModel

from toolorchestra.engine.base import Completion, EngineFault, Request
from toolorchestra.engine.vllm.probe import Weights
from toolorchestra.engine.vllm.server import WeightsLost, WorkerDown
from toolorchestra.engine.vllm.transfer import GpuTransfer
from toolorchestra.engine.vllm.weights import WeightFolders, logprobs_of
from toolorchestra.engine.vllm.worker import VllmWorker

RETRY_S = 0.1
MAX_ATTEMPTS = 5
"""Times that a worker which lives may fail one message."""


class VllmEngine:
    """Spreads rollouts over workers, and replaces their weights."""

    def __init__(
        self,
        workers: Sequence[VllmWorker],
        *,
        end_id: int,
        folders: WeightFolders,
        probe_ids: Sequence[int],
        sleeps: bool = False,
        transfer: GpuTransfer | None = None,
    ) -> None:
        """Starts nothing yet: workers start with the first weights they get.

        Args:
            workers: At least one.
            end_id: The token that ends a message.
            folders: Where weights are written for the workers.
            probe_ids: Tokens whose log-probabilities are compared after every load.
            sleeps: Whether workers give up their GPU memory while they rest.
            transfer: Sends newer weights from GPU to GPU. None: workers read them from a folder.
        """
        self.version, self.is_resting = 0, False
        self.workers = tuple(workers)
        self._end_id, self._folders, self._probe_ids = end_id, folders, tuple(probe_ids)
        self._sleeps, self._transfer = sleeps, transfer
        self._start_folder: Path | None = None
        self._homes: dict[str, VllmWorker] = {}
        """Each rollout's worker."""
        self._visitors: dict[str, Counter[VllmWorker]] = {}
        """Workers that an episode's rollouts are with: its prompt is computed there already."""

    async def load(self, model: PreTrainedModel, version: int) -> Mapping[str, float]:
        """Writes the weights down and has every worker load them.

        A worker that is down delays nobody, as long as another is up.

        Raises:
            ValueError: A worker cannot be brought up, or one's log-probabilities are not the
                trainer's.
        """
        start_s = time.perf_counter()
        expected = logprobs_of(model, list(self._probe_ids))
        if not all(map(math.isfinite, expected)):
            raise ValueError(
                f"the policy's weights are damaged: version {version} gives log-probabilities that "
                "are not finite; lower trainer.learning_rate, or resume from an earlier checkpoint"
            )
        folder = await self._write(model, version)
        weights = Weights(
            folder=folder,
            version=version,
            probe_ids=self._probe_ids,
            probe_logprobs=tuple(expected),
            send=self._transfer.settle(model) if self._transfer else None,
        )
        await asyncio.gather(*(worker.take(weights) for worker in self.workers))
        await self._any_ready()
        self.version, self.is_resting = version, False
        self._folders.keep_only({folder, *(worker.reads for worker in self.workers)})
        return {
            "time/load_s": time.perf_counter() - start_s,
            "engine/logprob_gap": max(worker.gap for worker in self.workers),
            "engine/num_restarts": float(sum(worker.num_restarts for worker in self.workers)),
        }

    async def rest(self) -> None:
        """The weights are about to change: none are sent, and workers sleep if they are to.

        Raises:
            ValueError: One cannot.
        """
        self.is_resting = self._sleeps or self._transfer is not None
        if self._transfer:
            self._transfer.unsettle()
        if self._sleeps:
            await asyncio.gather(*(worker.rest() for worker in self.workers))

    @asynccontextmanager
    async def rollout(self, session: str) -> AsyncIterator[None]:
        """Keeps a rollout with one worker, its group's others too.

        Raises:
            ValueError: If a rollout of this name is in flight.
        """
        if session in self._homes:
            raise ValueError(
                f"{session} is in flight already; episodes played at once need ids of their own"
            )
        try:
            self._settle(session)
            yield
        finally:
            self._leave(session)

    async def generate(self, request: Request) -> Completion:
        """Samples one message; see `Engine`. A worker that breaks meanwhile costs only time.

        Raises:
            EngineFault: A worker did not answer in time, or answered nonsense.
            ValueError: A worker cannot be brought up.
        """
        num_left = MAX_ATTEMPTS
        while True:
            worker = await self._ready_home(request.session)
            try:
                completion = await worker.server.generate(request, end_id=self._end_id)
            except WeightsLost as error:
                worker.report_down(str(error))
            except WorkerDown as error:
                num_left -= not await worker.is_broken(str(error))
                if num_left == 0:
                    raise EngineFault(f"failed {MAX_ATTEMPTS} times, last with: {error}") from error
                await asyncio.sleep(RETRY_S)
            else:
                for one in self.workers:  # while any of them samples, the run gets on
                    one.report_sampled()
                return completion

    async def close(self) -> None:
        """Ends the workers, and removes the weights that were written for them."""
        await asyncio.gather(*(worker.close() for worker in self.workers))
        self._folders.remove()

    async def _write(self, model: PreTrainedModel, version: int) -> Path:
        """The folder that a worker starts with: the first one where weights are sent, else new."""
        if self._transfer is None or self._start_folder is None:
            self._start_folder = await asyncio.to_thread(self._folders.write, model, version)
        return self._start_folder

    async def _ready_home(self, session: str) -> VllmWorker:
        """The rollout's worker once it is ready; another if it is down."""
        while not (worker := self._homes[session]).is_ready:
            await worker.wait_loaded()
            if worker.is_down:
                await self._any_ready()
                self._leave(session)
                self._settle(session)
        return worker

    def _settle(self, session: str) -> None:
        """Gives it the worker of the episode's other rollouts if that is up, or the least busy."""
        up = [worker for worker in self.workers if not worker.is_down] or list(self.workers)
        load = Counter(self._homes.values())
        visitors = self._visitors.setdefault(_episode(session), Counter())
        known = [worker for worker in up if visitors[worker]]
        worker = known[0] if known else min(up, key=lambda item: load[item])
        visitors[worker] += 1
        self._homes[session] = worker

    def _leave(self, session: str) -> None:
        worker = self._homes.pop(session)
        visitors = self._visitors[_episode(session)]
        visitors[worker] -= 1
        if not +visitors:
            del self._visitors[_episode(session)]

    async def _any_ready(self) -> None:
        waits = [asyncio.ensure_future(worker.wait_ready()) for worker in self.workers]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        for wait in done:
            wait.result()


def _episode(session: str) -> str:
    return session.rpartition("/")[0]
