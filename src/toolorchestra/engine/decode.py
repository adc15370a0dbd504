"""One wave: a message for each of many rollouts, sampled in a batch on memory kept between turns.

A wave computes only what its rollouts have not yet shown, and a prompt that many share once. Its
tokens stand in one line, without padding.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from toolorchestra.engine.base import Request
from toolorchestra.engine.memory import Prompt, Prompts, Slots, side_by_side
from toolorchestra.engine.passes import PromptPass, Reading, SlotPass
from toolorchestra.engine.sampling import sample, uniforms
from toolorchestra.model.attention import Attend, hidden_states

# B: rows, V: vocabulary

LEAST_GOING = 0.75
"""Finished rows ride along, unheard, until no more than this share goes on: to leave them out takes
some work."""
MAX_PADDING = 1.5
"""Cells that attention computes in a batch, against tokens."""
MAX_SCORES = 2**23
"""Most pairs of a token and what it may see in one pass, of each head."""


@dataclass(kw_only=True, eq=False)
class Session:
    """What is remembered of one rollout."""

    slot: int
    version: int = 0
    """Weight version that computed its keys and values."""
    ids: list[int] = field(default_factory=list)
    """The tokens whose keys and values are remembered."""
    prompt: Prompt | None = None
    """What the first of them stand in."""
    shared: int = 0
    """How many do; the others stand in the slot."""

    def keep(self, prompt_ids: tuple[int, ...], version: int) -> None:
        """Forgets all but the prefix that serves a prompt: other weights' memory serves none.

        The last prompt token is always computed anew, for its logits.
        """
        limit = min(len(self.ids), len(prompt_ids) - 1) if version == self.version else 0
        if tuple(self.ids[:limit]) != prompt_ids[:limit]:
            limit = next(i for i in range(limit) if self.ids[i] != prompt_ids[i])
        self.ids, self.version = self.ids[:limit], version
        self.shared = min(self.shared, limit)
        if limit == 0:
            self.prompt = None


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
        self.model, self._end_id = model, end_id
        self._prefill_tokens = prefill_tokens
        self._slots = Slots(
            num_layers=config.num_hidden_layers,
            num_slots=num_slots,
            num_heads=getattr(config, "num_key_value_heads", None) or heads,
            head_dim=getattr(config, "head_dim", None) or config.hidden_size // heads,
            max_length=max_length,
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
        prompts, which = _prompts_of(riding)
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
                prompts, which = _still_read(prompts, [which[i] for i in going])
            step += 1
            logits_BV = self._read(riding, [[row.ids[-1]] for row in riding], prompts, which)
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
        going_on = []
        for index, row in enumerate(rows):
            if row.session.prompt is None:
                alike.setdefault(row.request.prompt_ids, []).append(index)
            else:
                going_on.append(index)
        logits: dict[int, Tensor] = {}
        for batch in self._batches(rows, [first for first, *_ in alike.values()]):
            self.num_prefilled += sum(rows[index].num_new for index in batch)
            logits_BV, prompts = self._begin([rows[index].request.prompt_ids for index in batch])
            for first, logits_V, prompt in zip(batch, logits_BV, prompts, strict=True):
                for index in alike[rows[first].request.prompt_ids]:
                    logits[index] = logits_V
                    session = rows[index].session
                    session.prompt, session.shared = prompt, len(prompt)
        for batch in self._batches(rows, going_on):
            self.num_prefilled += sum(rows[index].num_new for index in batch)
            part = [rows[index] for index in batch]
            new = [list(row.request.prompt_ids[len(row.session.ids) :]) for row in part]
            logits.update(zip(batch, self._read(part, new, *_prompts_of(part)), strict=True))
        return torch.stack([logits[index] for index in range(len(rows))])

    def _batches(self, rows: list[Row], indices: list[int]) -> list[list[int]]:
        """Splits rows by their number of new tokens, so that a padded batch keeps to its budget."""
        batches: list[list[int]] = []
        longest = wanted = 0
        for index in sorted(indices, key=lambda i: rows[i].num_new):
            width = rows[index].num_new
            longest = max(longest, len(rows[index].request.prompt_ids))
            wanted += width
            cells = width * (len(batches[-1]) + 1) if batches else 0
            most = min(self._prefill_tokens, MAX_SCORES // longest, MAX_PADDING * wanted)
            if batches and cells <= most:
                batches[-1].append(index)
            else:
                batches.append([index])
                longest, wanted = len(rows[index].request.prompt_ids), width
        return [sorted(batch, key=lambda i: rows[i].session.slot) for batch in batches]

    def _begin(self, prompts: list[tuple[int, ...]]) -> tuple[Tensor, list[Prompt]]:
        """Computes prompts; the logits after each [B, V], and what is remembered of it."""
        attend = PromptPass([len(ids) for ids in prompts], self.model.device)
        logits_BV = self._forward([list(ids) for ids in prompts], [0] * len(prompts), attend)
        return logits_BV, attend.prompts()

    def _read(
        self, rows: list[Row], new: list[list[int]], prompts: Prompts, which: list[int]
    ) -> Tensor:
        """Computes the newest tokens of rows that have begun; the logits after each [B, V]."""
        starts = [row.position + 1 - len(ids) for row, ids in zip(rows, new, strict=True)]
        readings = [
            Reading(
                slot=row.session.slot,
                prompt=prompt,
                shared=row.session.shared,
                start=start - row.session.shared,
                count=len(ids),
            )
            for row, ids, prompt, start in zip(rows, new, which, starts, strict=True)
        ]
        attend = SlotPass(self._slots, prompts, readings, self.model.device)
        return self._forward(new, starts, attend)

    def _forward(self, new: list[list[int]], starts: list[int], attend: Attend) -> Tensor:
        """Runs new tokens from their positions on; logits after the last of each row [B, V]."""
        device = self.model.device
        counts = [len(ids) for ids in new]
        positions = [
            at for start, n in zip(starts, counts, strict=True) for at in range(start, start + n)
        ]
        hidden_NM = hidden_states(
            self.model,
            attend,
            torch.tensor(positions, device=device),
            input_ids=torch.tensor([[token for ids in new for token in ids]], device=device),
        )
        last_B = torch.tensor(counts, device=device).cumsum(0) - 1
        logits: Tensor = self.model.lm_head(hidden_NM.index_select(0, last_B))
        return logits


def _prompts_of(rows: list[Row]) -> tuple[Prompts, list[int]]:
    """The prompts that rows begin with side by side, and which of them each does."""
    prompts = [row.session.prompt for row in rows]
    distinct = list({id(prompt): prompt for prompt in prompts if prompt is not None}.values())
    number = {id(prompt): index for index, prompt in enumerate(distinct)}
    return side_by_side(distinct), [number[id(prompt)] for prompt in prompts]


def _still_read(prompts: Prompts, which: list[int]) -> tuple[Prompts, list[int]]:
    """The prompts that are read yet, and their new numbers."""
    left = sorted(set(which))
    if len(left) == len(prompts):
        return prompts, which
    return prompts.take(left), [left.index(number) for number in which]
