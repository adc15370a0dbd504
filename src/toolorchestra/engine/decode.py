"""One wave: a message for each of many rollouts, sampled in a batch on memory kept between turns.

A wave computes only what its rollouts have not yet shown, and a prompt that many share once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from toolorchestra.engine.base import Request
from toolorchestra.engine.sampling import sample, uniforms
from toolorchestra.engine.slots import SlotCache

# B: rows, T: new tokens a row, L: positions, V: vocabulary

LEAST_GOING = 0.5
"""Finished rows ride along, unheard, until no more than this share goes on: leaving them out breaks
the run of slots that attention reads in place, and gathering costs more than they do."""


@dataclass(kw_only=True, eq=False)
class Session:
    """What is remembered of one rollout."""

    slot: int
    version: int = 0
    """Weight version that computed the slot's keys and values."""
    ids: list[int] = field(default_factory=list)
    """The tokens whose keys and values the slot holds."""

    def keep(self, prompt_ids: tuple[int, ...], version: int) -> None:
        """Forgets all but the prefix that serves a prompt: other weights' memory serves none.

        The last prompt token is always computed anew, for its logits.
        """
        limit = min(len(self.ids), len(prompt_ids) - 1) if version == self.version else 0
        if tuple(self.ids[:limit]) != prompt_ids[:limit]:
            limit = next(i for i in range(limit) if self.ids[i] != prompt_ids[i])
        self.ids, self.version = self.ids[:limit], version


@dataclass(kw_only=True, eq=False)
class Row:
    """A request and the message that is being sampled for it."""

    request: Request
    session: Session
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    @property
    def num_new(self) -> int:
        """Prompt tokens that are yet to be computed."""
        return len(self.request.prompt_ids) - len(self.session.ids)

    @property
    def position(self) -> int:
        """Where the newest sampled token stands in the sequence."""
        return len(self.request.prompt_ids) + len(self.ids) - 1


class Decoder:
    """Samples messages from a model with full attention in every layer."""

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        end_id: int,
        num_slots: int,
        max_length: int,
        prefill_tokens: int,
    ) -> None:
        """Reserve memory for `num_slots` rollouts of up to `max_length` tokens.

        Raises:
            ValueError: If some layer of the model attends to less than all that came before.
        """
        config = model.config
        kinds = set(getattr(config, "layer_types", None) or ()) - {"full_attention"}
        if kinds:
            raise ValueError(
                f"model.path: layers of the kind {', '.join(sorted(kinds))} are not allowed with "
                "rollout.engine=transformers; use a model with full attention in every layer"
            )
        heads = config.num_attention_heads
        self.model, self._end_id, self._max_length = model, end_id, max_length
        self._prefill_tokens = prefill_tokens
        self._cache = SlotCache(
            num_layers=config.num_hidden_layers,
            num_slots=num_slots,
            num_heads=getattr(config, "num_key_value_heads", None) or heads,
            head_dim=getattr(config, "head_dim", None) or config.hidden_size // heads,
            max_length=max_length + 1,  # one more, where padding writes
            dtype=model.dtype,
            device=model.device,
        )
        self.num_prefilled = 0
        self.num_sampled = 0

    @torch.inference_mode()
    def decode(self, rows: list[Row], *, version: int) -> None:
        """Samples every row's message to its end.

        Args:
            rows: With nothing sampled yet; their prompts and messages fit into a slot.
            version: The version of the model's weights.
        """
        torch.nn.Module.eval(self.model)
        for row in rows:
            row.session.keep(row.request.prompt_ids, version)
        logits_BV = self._prefill(rows)
        seeds = np.array([row.request.seed for row in rows], dtype=np.uint64)
        temperatures = torch.tensor(
            [row.request.temperature for row in rows], device=logits_BV.device
        )
        riding, step = rows, 0
        while True:
            ids, logprobs = sample(logits_BV, uniforms(seeds, step), temperatures)
            for row, token, logprob in zip(riding, ids.tolist(), logprobs.tolist(), strict=True):
                if not self._is_done(row):
                    row.ids.append(token)
                    row.logprobs.append(logprob)
            going = [index for index, row in enumerate(riding) if not self._is_done(row)]
            if not going:
                break
            if len(going) <= len(riding) * LEAST_GOING:
                riding, seeds, temperatures = (
                    [riding[i] for i in going],
                    seeds[going],
                    temperatures[going],
                )
            step += 1
            logits_BV = self._forward(riding, [[row.ids[-1]] for row in riding])
        for row in rows:
            # the last token's keys are not computed: it heads the next turn's new tokens
            row.session.ids = [*row.request.prompt_ids, *row.ids[:-1]]
        self.num_sampled += sum(len(row.ids) for row in rows)

    def _is_done(self, row: Row) -> bool:
        if not row.ids:
            return False
        return row.ids[-1] == self._end_id or len(row.ids) == row.request.max_tokens

    def _prefill(self, rows: list[Row]) -> Tensor:
        """Computes each row's new prompt tokens; returns the logits after its last one [B, V]."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for index, row in enumerate(rows):
            key = (-1, index) if row.session.ids else row.request.prompt_ids
            alike.setdefault(key, []).append(index)
        logits: dict[int, Tensor] = {}
        for batch in self._batches(rows, [first for first, *_ in alike.values()]):
            part = [rows[index] for index in batch]
            new = [list(row.request.prompt_ids[len(row.session.ids) :]) for row in part]
            logits.update(zip(batch, self._forward(part, new), strict=True))
            self.num_prefilled += sum(map(len, new))
        for first, *others in alike.values():
            if others:
                slots = [rows[index].session.slot for index in others]
                length = len(rows[first].request.prompt_ids)
                self._cache.copy(rows[first].session.slot, slots, length)
                logits.update((index, logits[first]) for index in others)
        return torch.stack([logits[index] for index in range(len(rows))])

    def _batches(self, rows: list[Row], indices: list[int]) -> list[list[int]]:
        """Splits rows by their number of new tokens, so that a padded batch keeps to its budget."""
        batches: list[list[int]] = []
        for index in sorted(indices, key=lambda i: rows[i].num_new):
            width = rows[index].num_new
            if batches and width * (len(batches[-1]) + 1) <= self._prefill_tokens:
                batches[-1].append(index)
            else:
                batches.append([index])
        return [sorted(batch, key=lambda i: rows[i].session.slot) for batch in batches]

    def _forward(self, rows: list[Row], new: list[list[int]]) -> Tensor:
        """Runs the newest tokens of some rows, up to their position; logits after it [B, V]."""
        device = self.model.device
        lengths = torch.tensor([len(tokens) for tokens in new], device=device)
        width = max(map(len, new))
        ids_BT = torch.tensor([t + [0] * (width - len(t)) for t in new], device=device)
        ends_B = torch.tensor([row.position + 1 for row in rows], device=device)
        positions_BT = (ends_B - lengths)[:, None] + torch.arange(width, device=device)
        # padding writes behind the row's end, where nothing looks before it is overwritten
        positions_BT = positions_BT.clamp(max=self._max_length)
        visible = int(ends_B.max())
        mask = torch.arange(visible, device=device) <= positions_BT[:, None, :, None]
        slots = torch.tensor([row.session.slot for row in rows], device=device)
        self._cache.aim(slots, positions_BT, visible)
        hidden = self.model.model(
            input_ids=ids_BT,
            attention_mask=mask,
            position_ids=positions_BT,
            past_key_values=self._cache,
            use_cache=True,
        ).last_hidden_state
        last = hidden[torch.arange(len(new), device=device), lengths - 1]
        logits: Tensor = self.model.lm_head(last)
        return logits
