"""Training rows of one rollout: every id as it was sampled or appended, and who wrote it.

A rollout is one row as long as the template leaves history alone. When it rewrites history, a new
row begins with the re-rendered prompt as context, so each sampled token is trained exactly once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from toolorchestra.types import Row


@dataclass(slots=True)
class _OpenRow:
    ids: list[int] = field(default_factory=list)
    loss_mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)

    def extend(
        self, ids: Sequence[int], mask: int, logprobs: Sequence[float], version: int
    ) -> None:
        self.ids += ids
        self.loss_mask += [mask] * len(ids)
        self.logprobs += logprobs
        self.versions += [version] * len(ids)


class RowBuilder:
    """Collects the rows of one rollout, token-in, token-out."""

    def __init__(self, rollout: str) -> None:
        """Begin without a row.

        Args:
            rollout: The rollout's id, named in every error.
        """
        self._rollout = rollout
        self._rows: list[_OpenRow] = []

    @property
    def ids(self) -> list[int]:
        """Ids of the open row so far: the prompt of the next turn (a copy)."""
        return list(self._open().ids)

    def __len__(self) -> int:
        """Length of the open row in tokens."""
        return len(self._rows[-1].ids) if self._rows else 0

    def new_row(self, prompt_ids: Sequence[int]) -> None:
        """Begin a row with rendered ids; turns of the policy among them carry no loss again."""
        self._rows.append(_OpenRow())
        self.append_context(prompt_ids)

    def append_context(self, ids: Sequence[int]) -> None:
        """Append ids that the policy did not sample: no loss."""
        self._open().extend(ids, 0, [0.0] * len(ids), -1)

    def append_sampled(self, ids: Sequence[int], logprobs: Sequence[float], version: int) -> None:
        """Append a sampled turn.

        Args:
            ids: Ids as sampled, the end-of-turn id included if it was sampled.
            logprobs: Sampler log-probability of each id.
            version: Weight version that sampled them, 0 or more.

        Raises:
            ValueError: If lengths differ, a log-probability is not finite or a version is below 0.
        """
        if len(ids) != len(logprobs):
            raise ValueError(
                f"rollout {self._rollout}: {len(ids)} sampled ids need as many log-probabilities; "
                f"got {len(logprobs)}"
            )
        for position, logprob in enumerate(logprobs):
            if not math.isfinite(logprob):
                raise ValueError(
                    f"rollout {self._rollout}: log-probability of sampled id {ids[position]} at "
                    f"position {position} is {logprob}; it must be finite"
                )
        if version < 0:
            raise ValueError(
                f"rollout {self._rollout}: weight version {version} is not allowed; use 0 or more"
            )
        self._open().extend(ids, 1, logprobs, version)

    def rows(self) -> tuple[Row, ...]:
        """The rows that hold a sampled token, in order; a row without one has nothing to train."""
        return tuple(
            Row(
                ids=tuple(row.ids),
                loss_mask=tuple(row.loss_mask),
                logprobs=tuple(row.logprobs),
                versions=tuple(row.versions),
            )
            for row in self._rows
            if any(row.loss_mask)
        )

    def _open(self) -> _OpenRow:
        assert self._rows, f"rollout {self._rollout}: begin with new_row"
        return self._rows[-1]
