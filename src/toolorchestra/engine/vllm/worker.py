"""One vLLM worker under supervision: up with the newest weights, or on its way there."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from toolorchestra.engine.base import EngineFault
from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.probe import Weights, check_server, probe
from toolorchestra.engine.vllm.process import VllmProcess
from toolorchestra.engine.vllm.server import VllmServer, WorkerDown

log = logging.getLogger(__name__)

POLL_S = 0.25
HEALTH_EVERY_S, HEALTH_TIMEOUT_S = 10.0, 60.0
"""A server in the midst of a long prefill answers late."""


class VllmWorker:
    """Starts its server, or waits for one that others started; mends it when it breaks.

    Only a ready worker may be asked to sample. One is ready when its weights are the newest, and
    give the trainer's log-probabilities.
    """

    def __init__(
        self,
        name: str,
        config: VllmConfig,
        *,
        start: Callable[[Path], VllmProcess] | None,
        url: str = "",
        max_logprob_gap: float,
        min_context: int,
    ) -> None:
        """Starts nothing yet.

        Args:
            name: For messages.
            config: Time limits.
            start: Starts a server with a folder of weights; None for one that runs at `url`.
            url: Address of a server that others started.
            max_logprob_gap: Mean difference from the trainer's log-probabilities that is allowed.
            min_context: Tokens that the server must be able to hold.
        """
        self.name, self.gap = name, 0.0
        self._config, self._start_process = config, start
        self._max_logprob_gap, self._min_context = max_logprob_gap, min_context
        self._process: VllmProcess | None = None
        self.server = VllmServer(url, timeout_s=config.request_timeout_s)
        self._weights: Weights | None = None
        self._loaded: Weights | None = None
        self.reads: Path | None = None
        """Folder of weights that the server may be reading right now."""
        self._ready, self._down = asyncio.Event(), asyncio.Event()
        self._busy = asyncio.Lock()
        self._why_down, self._was_ready = "", False
        self._supervisor: asyncio.Task[None] | None = None
        self.num_restarts = self._num_vain = 0
        """In all, and since it last sampled anything."""

    @property
    def is_ready(self) -> bool:
        """Whether it may be asked to sample."""
        return self._ready.is_set()

    @property
    def is_down(self) -> bool:
        """Whether it is broken, or on its way up again."""
        return self._down.is_set()

    @property
    def pid(self) -> int | None:
        """Of its process, if that is ours."""
        return self._process.pid if self._process else None

    async def wait_ready(self) -> None:
        """Waits until it may be asked to sample.

        Raises:
            ValueError: It cannot be brought up; the message says why.
        """
        await self._any_of(self._ready)

    async def wait_loaded(self) -> None:
        """Waits while it loads weights: until it is ready, or down.

        Raises:
            ValueError: It cannot be brought up; the message says why.
        """
        await self._any_of(self._ready, self._down)

    async def take(self, weights: Weights) -> None:
        """Loads newer weights, or starts with them. One that is down takes them when it is up.

        Raises:
            ValueError: It cannot be brought up, or its log-probabilities are not the trainer's.
        """
        self._ready.clear()
        self._weights = weights
        if self._supervisor is None:
            self._supervisor = asyncio.create_task(self._supervise())
            await self.wait_ready()
            return
        if self._supervisor.done():
            self._supervisor.result()
        if self._down.is_set() or self._busy.locked():
            return  # the supervisor is at it, and ends with the newest
        try:
            await self._catch_up()
        except WorkerDown as error:
            self.report_down(str(error))

    async def rest(self) -> None:
        """Gives up its GPU memory until the next weights.

        Raises:
            ValueError: It cannot.
        """
        if not self.is_ready:
            return  # whoever is on the way up is of no use asleep
        self._ready.clear()
        try:
            await self.server.sleep()
        except EngineFault as error:
            raise ValueError(f"rollout.vllm: {self.name} cannot sleep: {error}") from error
        except WorkerDown as error:
            self.report_down(str(error))

    async def is_broken(self, reason: str) -> bool:
        """Whether a server that failed a request is down, or may be asked again."""
        if self.is_ready and not await self.server.is_healthy():
            self.report_down(reason)
        return not self.is_ready

    def report_down(self, reason: str) -> None:
        """Takes the server for broken: it is started anew, or awaited."""
        if not self._down.is_set():
            log.warning("%s is down (%s)", self.name, reason)
        self._why_down = reason
        self._ready.clear()
        self._down.set()

    def report_sampled(self) -> None:
        """Says that this worker or another sampled a message."""
        self._num_vain = 0

    async def close(self) -> None:
        """Ends the server if it is ours."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            await asyncio.gather(self._supervisor, return_exceptions=True)
        await self.server.close()
        await self._end_process()

    async def _supervise(self) -> None:
        while True:
            try:
                await self._bring_up()
                await self._until_down()
            except WorkerDown as error:
                if not self._may_try_again():
                    reason = self._reason() or error
                    await self._fail_to_start(f"broke before it sampled anything: {reason}")
                self.report_down(str(error))
            self._num_vain += 1
            if self._num_vain > self._config.max_restarts:
                raise ValueError(
                    f"rollout.vllm: {self.name} broke {self._num_vain} times in a row without "
                    f"sampling anything, last with: {self._reason()}"
                )
            await self._end_process()
            self.num_restarts += 1

    async def _any_of(self, *events: asyncio.Event) -> None:
        assert self._supervisor is not None, "no weights were ever given"
        waits = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait({*waits, self._supervisor}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if self._supervisor.done():
            self._supervisor.result()

    async def _bring_up(self) -> None:
        async with self._busy:
            await self._reach()
        await self._catch_up()

    async def _reach(self) -> None:
        """Waits for a server that answers; starts it if it is ours."""
        deadline = time.monotonic() + self._config.start_timeout_s
        self._loaded = None
        if self._start_process is not None:
            await self.server.close()
            begun = self._newest()
            self.reads = begun.folder
            # in this thread, not in a passing one: the server ends with the thread that starts it
            self._process = self._start_process(begun.folder)
            self.server = VllmServer(self._process.url, timeout_s=self._config.request_timeout_s)
        while not await self.server.is_healthy():
            if self._process is not None and not self._process.is_running():
                await self._fail_to_start(f"ended while it started: {self._reason()}")
            if time.monotonic() > deadline:
                await self._fail_to_start(
                    f"did not answer within {self._config.start_timeout_s:g} s "
                    "(rollout.vllm.start_timeout_s)"
                )
            await asyncio.sleep(POLL_S)
        try:
            await check_server(self.server, name=self.name, min_context=self._min_context)
            if self._start_process is not None:
                await self.server.mark(begun.version)
                self._loaded = begun if begun.send is None else None
        except EngineFault as error:
            await self._fail_to_start(f"cannot be used: {error}")
        self._down.clear()  # only now: what the last server left unanswered is no fault of this one

    async def _fail_to_start(self, reason: str) -> NoReturn:
        if self._may_try_again():
            raise WorkerDown(reason)
        await self._end_process()
        raise ValueError(f"rollout.vllm: {self.name} {reason}")

    def _may_try_again(self) -> bool:
        """Not where the very first start fails by itself: the next would too."""
        return self._was_ready or (self._process is not None and self._process.was_killed())

    async def _catch_up(self) -> None:
        """Loads and probes until the newest weights are in, and lets requests through."""
        async with self._busy:
            probed = None
            while probed is not (weights := self._newest()):
                if self._loaded is not weights:
                    await self._load(weights)
                if weights is self._newest():  # or what was sent may be newer than its record
                    self.gap = await probe(
                        self.server, weights, name=self.name, max_gap=self._max_logprob_gap
                    )
                    probed = weights
            if not self._down.is_set():
                self._was_ready = True
                self._ready.set()

    async def _load(self, weights: Weights) -> None:
        self.reads = weights.folder
        try:
            timeout_s = self._config.load_timeout_s
            async with self.server.replacing(weights.version, timeout_s=timeout_s):
                if weights.send is None:
                    await self.server.read_weights(weights.folder, timeout_s=timeout_s)
                else:
                    await weights.send(self.server.url)
        except EngineFault as error:
            raise ValueError(
                f"rollout.vllm: {self.name} could not load the policy's weights: {error}"
            ) from error
        self._loaded = weights

    def _newest(self) -> Weights:
        assert self._weights is not None
        return self._weights

    async def _until_down(self) -> None:
        """Returns when the server was reported down, ended, or stopped answering."""
        asked = time.monotonic()
        while not self._down.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._down.wait(), POLL_S)
            if self._process is not None and not self._process.is_running():
                self.report_down(f"process {self._process.pid} ended")
            elif time.monotonic() - asked > HEALTH_EVERY_S:
                if not await self.server.is_healthy(timeout_s=HEALTH_TIMEOUT_S):
                    self.report_down("it does not answer")
                asked = time.monotonic()

    async def _end_process(self) -> None:
        if self._process is not None:
            await self._process.aend()

    def _reason(self) -> str:
        return self._process.last_error() if self._process else self._why_down
