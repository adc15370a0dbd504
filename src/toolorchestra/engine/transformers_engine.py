"""The embedded engine: a transformers model in this process that batches waiting requests.

Requests are served in waves: a wave starts when every rollout in flight waits for the engine, or
`batch_wait_s` after the first one began to wait. The first rule makes a run reproducible whatever
the tools' real speed; the second keeps one slow tool from holding up the rest. A wave prefills only
what its rollouts have not yet shown, and a prompt that many share is prefilled once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from toolorchestra.engine.base import Completion, Request
from toolorchestra.engine.sampling import sample, uniforms
from toolorchestra.engine.slots import SlotCache

# B: rows, T: new tokens a row, L: positions


@dataclass(kw_only=True)
class _Session:
    slot: int
    ids: list[int] = field(default_factory=list)
    """The tokens whose keys and values the slot holds."""


@dataclass(kw_only=True)
class _Row:
    request: Request
    session: _Session
    future: asyncio.Future[Completion]
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    @property
    def position(self) -> int:
        """Where the newest sampled token stands in the sequence."""
        return len(self.request.prompt_ids) + len(self.ids) - 1


class TransformersEngine:
    """Samples from `model`, whose weights the trainer changes in place between waves."""

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
        config = model.config
        heads = config.num_attention_heads
        self.version = 0
        self._model, self._end_id, self._max_length = model, end_id, max_length
        self._batch_wait_s, self._prefill_tokens = batch_wait_s, prefill_tokens
        self._cache = SlotCache(
            num_layers=config.num_hidden_layers,
            num_slots=num_slots,
            num_heads=getattr(config, "num_key_value_heads", None) or heads,
            head_dim=getattr(config, "head_dim", None) or config.hidden_size // heads,
            max_length=max_length + 1,  # one more, where padding writes
            dtype=model.dtype,
            device=model.device,
        )
        self._free = list(range(num_slots))[::-1]
        self._has_free = asyncio.Condition()
        self._sessions: dict[str, _Session] = {}
        self._waiting: list[_Row] = []
        self._timer: asyncio.TimerHandle | None = None
        self.num_prefilled = 0
        self.num_sampled = 0

    @asynccontextmanager
    async def rollout(self, session: str) -> AsyncIterator[None]:
        """Holds a slot for one rollout; waits for one where all are taken."""
        async with self._has_free:
            await self._has_free.wait_for(lambda: bool(self._free))
            self._sessions[session] = _Session(slot=self._free.pop())
        try:
            yield
        finally:
            async with self._has_free:
                self._free.append(self._sessions.pop(session).slot)
                self._free.sort(reverse=True)
                self._has_free.notify()
            self._start_wave_if_all_wait()

    async def generate(self, request: Request) -> Completion:
        """Samples one message; see `Engine`.

        Raises:
            ValueError: if the request cannot fit into the engine's context.
        """
        if len(request.prompt_ids) + request.max_tokens > self._max_length:
            raise ValueError(
                f"{request.session}: {len(request.prompt_ids)} prompt tokens and "
                f"{request.max_tokens} new ones exceed the context of {self._max_length}"
            )
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Completion] = loop.create_future()
        row = _Row(request=request, session=self._sessions[request.session], future=future)
        self._waiting.append(row)
        if self._timer is None:
            self._timer = loop.call_later(self._batch_wait_s, self._run_wave)
        self._start_wave_if_all_wait()
        return await future

    def _start_wave_if_all_wait(self) -> None:
        if self._waiting and len(self._waiting) == len(self._sessions):
            asyncio.get_running_loop().call_soon(self._wave_if_still_all_wait)

    def _wave_if_still_all_wait(self) -> None:
        # rollouts that this very moment ask for a slot come first: they join the wave
        if self._waiting and len(self._waiting) == len(self._sessions):
            self._run_wave()

    def _run_wave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        rows = sorted(
            (row for row in self._waiting if not row.future.cancelled()),
            key=lambda row: row.session.slot,
        )
        self._waiting = []
        if not rows:
            return
        try:
            self._sample_wave(rows)
        except Exception as error:  # every waiting rollout must hear of it, or the run would hang
            for row in rows:
                if not row.future.done():
                    row.future.set_exception(error)

    @torch.inference_mode()
    def _sample_wave(self, rows: list[_Row]) -> None:
        self._model.eval()
        logits = self._prefill(rows)
        seeds = np.array([row.request.seed for row in rows], dtype=np.uint64)
        temperatures = torch.tensor([row.request.temperature for row in rows])
        step = 0
        while rows:
            ids, logprobs = sample(logits, uniforms(seeds, step), temperatures)
            going = []
            for index, (row, token, logprob) in enumerate(
                zip(rows, ids.tolist(), logprobs.tolist(), strict=True)
            ):
                row.ids.append(token)
                row.logprobs.append(logprob)
                if token == self._end_id or len(row.ids) == row.request.max_tokens:
                    self._finish(row)
                else:
                    going.append(index)
            rows = [rows[index] for index in going]
            if not rows:
                return
            seeds, temperatures = seeds[going], temperatures[going]
            logits = self._forward(
                [row.session.slot for row in rows],
                [[row.ids[-1]] for row in rows],
                [row.position for row in rows],
            )
            step += 1

    def _finish(self, row: _Row) -> None:
        # the last token's keys are not computed: it heads the next turn's new tokens
        row.session.ids = [*row.request.prompt_ids, *row.ids[:-1]]
        self.num_sampled += len(row.ids)
        if not row.future.done():
            row.future.set_result(
                Completion(
                    ids=tuple(row.ids),
                    logprobs=tuple(row.logprobs),
                    finish_reason="stop" if row.ids[-1] == self._end_id else "length",
                    version=self.version,
                )
            )

    def _prefill(self, rows: list[_Row]) -> Tensor:
        """Computes each row's new prompt tokens; returns the logits after its last one [B, V]."""
        leaders: dict[tuple[int, ...], list[int]] = {}
        for index, row in enumerate(rows):
            is_new = not row.session.ids
            key = row.request.prompt_ids if is_new else (-1, row.session.slot)
            leaders.setdefault(key, []).append(index)
        firsts = sorted((group[0] for group in leaders.values()), key=lambda i: self._num_new(rows[i]))
        logits: dict[int, Tensor] = {}
        for batch in self._batches(rows, firsts):
            starts = [self._num_kept(rows[i]) for i in batch]
            new = [list(rows[i].request.prompt_ids[s:]) for i, s in zip(batch, starts, strict=True)]
            slots = [rows[i].session.slot for i in batch]
            out = self._forward(slots, new, starts)
            logits.update(zip(batch, out, strict=True))
            self.num_prefilled += sum(len(tokens) for tokens in new)
        for first, *rest in leaders.values():
            if rest:
                length = len(rows[first].request.prompt_ids)
                slots = [rows[i].session.slot for i in rest]
                self._cache.copy(rows[first].session.slot, slots, length)
                logits.update((i, logits[first]) for i in rest)
        return torch.stack([logits[i] for i in range(len(rows))])

    def _num_kept(self, row: _Row) -> int:
        """Length of the prefix that the slot already holds: the last prompt token is always new."""
        limit = min(len(row.session.ids), len(row.request.prompt_ids) - 1)
        kept = row.session.ids
        prompt = row.request.prompt_ids
        if tuple(kept[:limit]) == prompt[:limit]:
            return limit
        return next(i for i in range(limit) if kept[i] != prompt[i])

    def _num_new(self, row: _Row) -> int:
        return len(row.request.prompt_ids) - self._num_kept(row)

    def _batches(self, rows: list[_Row], order: list[int]) -> list[list[int]]:
        """Splits rows, sorted by new tokens, so that a padded batch stays within its budget."""
        batches: list[list[int]] = []
        for index in order:
            width = self._num_new(rows[index])
            if batches and width * (len(batches[-1]) + 1) <= self._prefill_tokens:
                batches[-1].append(index)
            else:
                batches.append([index])
        return [sorted(batch, key=lambda i: rows[i].session.slot) for batch in batches]

    def _forward(self, slots: list[int], new: list[list[int]], starts: list[int]) -> Tensor:
        """Runs new tokens of some slots from their start positions; logits after the last [B, V]."""
        device = self._model.device
        lengths = torch.tensor([len(tokens) for tokens in new], device=device)
        width = int(lengths.max())
        ids_BT = torch.tensor([t + [0] * (width - len(t)) for t in new], device=device)
        start_B = torch.tensor(starts, device=device)
        positions_BT = start_B[:, None] + torch.arange(width, device=device)
        # padding writes behind the row's end, where nothing looks before it is overwritten
        positions_BT = positions_BT.clamp(max=self._max_length)
        visible = int((start_B + lengths).max())
        mask = torch.arange(visible, device=device) <= positions_BT[:, None, :, None]
        self._cache.aim(torch.tensor(slots, device=device), positions_BT, visible)
        hidden = self._model.model(
            input_ids=ids_BT,
            attention_mask=mask,
            position_ids=positions_BT,
            past_key_values=self._cache,
            use_cache=True,
        ).last_hidden_state
        last = hidden[torch.arange(len(new), device=device), lengths - 1]
        return self._model.lm_head(last)
