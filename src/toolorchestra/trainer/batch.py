"""Training rows as tensors, with each group's prompt computed once.

The rollouts of a group begin with the same prompt, which is most of their tokens. A micro-batch
holds the prompts apart from what follows them; the model reads every prompt once, and each row
attends to its own. Loss and gradient are those of the rows written out in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from toolorchestra.types import Row

# P: prompts, R: rows, K: longest prompt, T: longest rest of a row


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingRow:
    """One row with the advantage of its rollout."""

    row: Row
    advantage: float
    name: str
    """Rollout id, for messages about faults."""

    @property
    def prompt_length(self) -> int:
        """Tokens before the first loss token, less one: that token's logits come from the rest.

        The row must hold a loss token.
        """
        return max(self.row.loss_mask.index(1) - 1, 0)

    @property
    def num_loss_tokens(self) -> int:
        """Sampled tokens, save a row's very first: nothing stands before it to predict it."""
        return sum(self.row.loss_mask[1:])


@dataclass(frozen=True, kw_only=True, slots=True)
class MicroBatch:
    """Prompts once, and the rest of each row; all padded at the end."""

    prompt_ids_PK: Tensor
    prompt_lengths_P: Tensor
    owner_R: Tensor
    """Which prompt each row continues."""
    ids_RT: Tensor
    lengths_R: Tensor
    loss_mask_RT: Tensor
    """True on tokens to be predicted; their logits stand one position before."""
    sampler_logprobs_RT: Tensor
    advantages_R: Tensor

    @property
    def num_tokens(self) -> int:
        """Tokens that the model computes, without padding."""
        return int(self.prompt_lengths_P.sum() + self.lengths_R.sum())


def make_micro_batch(rows: Sequence[TrainingRow]) -> MicroBatch:
    """Lays out rows; equal prompts are stored once, whichever group they came from."""
    prompts: dict[tuple[int, ...], int] = {}
    owners = []
    for item in rows:
        prompt = item.row.ids[: item.prompt_length]
        owners.append(prompts.setdefault(prompt, len(prompts)))
    rests = [slice(item.prompt_length, None) for item in rows]
    ids = [item.row.ids[rest] for item, rest in zip(rows, rests, strict=True)]
    return MicroBatch(
        prompt_ids_PK=_pad(list(prompts), torch.long),
        prompt_lengths_P=torch.tensor([len(prompt) for prompt in prompts]),
        owner_R=torch.tensor(owners),
        ids_RT=_pad(ids, torch.long),
        lengths_R=torch.tensor([len(rest) for rest in ids]),
        loss_mask_RT=_pad(
            [item.row.loss_mask[rest] for item, rest in zip(rows, rests, strict=True)], torch.bool
        ),
        sampler_logprobs_RT=_pad(
            [item.row.logprobs[rest] for item, rest in zip(rows, rests, strict=True)], torch.float32
        ),
        advantages_R=torch.tensor([item.advantage for item in rows], dtype=torch.float32),
    )


def split_rows(rows: Sequence[TrainingRow], *, max_tokens: int) -> list[list[TrainingRow]]:
    """Splits rows, in order, into micro-batches of at most `max_tokens` padded tokens.

    Rows of one prompt stand together and count it once, unless a budget cut falls between them.

    Raises:
        ValueError: if one row alone exceeds the budget.
    """
    batches: list[list[TrainingRow]] = []
    prompts: set[tuple[int, ...]] = set()
    prompt_width = rest_width = 0
    for item in rows:
        length = len(item.row.ids)
        if length > max_tokens:
            raise ValueError(
                f"trainer.micro_batch_tokens: {max_tokens} is not allowed; rollout {item.name} "
                f"alone has {length} tokens"
            )
        prompt = item.row.ids[: item.prompt_length]
        prompt_width = max(prompt_width, len(prompt))
        rest_width = max(rest_width, length - len(prompt))
        num_prompts = len(prompts) + (prompt not in prompts)
        num_rows = len(batches[-1]) + 1 if batches else 1
        if not batches or prompt_width * num_prompts + rest_width * num_rows > max_tokens:
            batches.append([])
            prompts = set()
            prompt_width, rest_width = len(prompt), length - len(prompt)
        batches[-1].append(item)
        prompts.add(prompt)
    return batches


def _pad(rows: Sequence[Sequence[float]], dtype: torch.dtype) -> Tensor:
    width = max(max(map(len, rows)), 1)
    out = torch.zeros(len(rows), width, dtype=dtype)
    for index, row in enumerate(rows):
        out[index, : len(row)] = torch.tensor(row, dtype=dtype)
    return out
