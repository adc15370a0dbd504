"""The embedded engine: a transformers model in this process that batches waiting requests.

Requests are served in waves: a wave starts when every rollout in flight waits for the engine, or
`batch_wait_s` after the first one began to wait. The first rule makes a run reproducible whatever
the tools' real speed; the second keeps one slow tool from holding up the rest.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from transformers import PreTrainedModel

from toolorchestra.engine.base import Completion, Request
from toolorchestra.engine.decode import Decoder, Row, Session


@dataclass(kw_only=True, eq=False)
class _Waiter:
    row: Row
    future: asyncio.Future[Completion]


class TransformersEngine:
    """Samples from a model whose weights the trainer changes in place, between waves."""

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        end_id: int,
        num_slots: int,
        max_length: int,
        batch_wait_s: float,
        prefill_tokens: int,
    ) -> None:
        """Reserve memory for `num_slots` rollouts of up to `max_length` tokens.

        Raises:
            ValueError: If the model has layers without full attention.
        """
        self.version, self.is_resting = 0, False
        self._decoder = Decoder(
            model,
            end_id=end_id,
            num_slots=num_slots,
            max_length=max_length,
            prefill_tokens=prefill_tokens,
        )
        self._end_id, self._max_length, self._batch_wait_s = end_id, max_length, batch_wait_s
        self._gate = asyncio.Semaphore(num_slots)
        self._free = list(range(num_slots))
        """A heap, so that the slots in use lie side by side."""
        self._sessions: dict[str, Session] = {}
        self._waiting: list[_Waiter] = []
        self._timer: asyncio.TimerHandle | None = None

    @property
    def num_prefilled(self) -> int:
        """Prompt tokens computed so far."""
        return self._decoder.num_prefilled

    @property
    def num_sampled(self) -> int:
        """Tokens sampled so far."""
        return self._decoder.num_sampled

    async def load(self, model: PreTrainedModel, version: int) -> Mapping[str, float]:
        """Samples from `model` on; what other weights computed is forgotten."""
        self._decoder.model = model
        self.version = version
        return {}

    async def rest(self) -> None:
        """Has nothing to give up: its weights are the trainer's."""

    async def close(self) -> None:
        """Has nothing to end."""

    @asynccontextmanager
    async def rollout(self, session: str) -> AsyncIterator[None]:
        """Holds a slot for one rollout; waits for one where all are taken.

        Raises:
            ValueError: If a rollout of this name is in flight.
        """
        try:
            async with self._gate:
                if session in self._sessions:
                    raise ValueError(
                        f"{session} is in flight already; episodes played at once need ids of "
                        "their own"
                    )
                slot = heapq.heappop(self._free)
                self._sessions[session] = Session(slot=slot)
                try:
                    yield
                finally:
                    del self._sessions[session]
                    heapq.heappush(self._free, slot)
        finally:
            # after the gate: a rollout that waits for the slot enters before the wave starts
            self._start_wave_if_all_wait()

    async def generate(self, request: Request) -> Completion:
        """Samples one message; see `Engine`.

        Raises:
            ValueError: If the request is empty or cannot fit into the engine's context.
        """
        self._check(request)
        loop = asyncio.get_running_loop()
        row = Row(request=request, session=self._sessions[request.session])
        waiter = _Waiter(row=row, future=loop.create_future())
        self._waiting.append(waiter)
        if self._timer is None:
            self._timer = loop.call_later(self._batch_wait_s, self._run_wave)
        self._start_wave_if_all_wait()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            if not self._waiting:
                self._stop_timer()
            raise

    def _check(self, request: Request) -> None:
        num_prompt, num_new = len(request.prompt_ids), request.max_tokens
        if num_prompt < 1 or num_new < 1:
            raise ValueError(
                f"{request.session}: {num_prompt} prompt tokens and {num_new} new ones are not "
                "allowed; use at least 1 of each"
            )
        if num_prompt + num_new > self._max_length:
            raise ValueError(
                f"{request.session}: {num_prompt} prompt tokens and {num_new} new ones exceed "
                f"the context of {self._max_length}"
            )

    def _start_wave_if_all_wait(self) -> None:
        if self._waiting and len(self._waiting) == len(self._sessions):
            asyncio.get_running_loop().call_soon(self._wave_if_still_all_wait)

    def _wave_if_still_all_wait(self) -> None:
        # rollouts that this very moment ask for a slot come first: they join the wave
        if self._waiting and len(self._waiting) == len(self._sessions):
            self._run_wave()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _run_wave(self) -> None:
        self._stop_timer()
        wave = sorted(self._waiting, key=lambda waiter: waiter.row.session.slot)
        self._waiting = []
        try:
            self._decoder.decode([waiter.row for waiter in wave], version=self.version)
        except Exception as error:  # every waiting rollout must hear of it, or the run would hang
            for waiter in wave:
                if not waiter.future.done():
                    waiter.future.set_exception(error)
            return
        for waiter in wave:
            if not waiter.future.done():
                waiter.future.set_result(self._completion(waiter.row))

    def _completion(self, row: Row) -> Completion:
        return Completion(
            ids=tuple(row.ids),
            logprobs=tuple(row.logprobs),
            finish_reason="stop" if row.ids[-1] == self._end_id else "length",
            version=self.version,
        )
