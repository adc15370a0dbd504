"""Whole trajectories as JSON, in chunks that a browser unpacks one at a time."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from toolorchestra.codec import to_json
from toolorchestra.page.attempts import Attempt
from toolorchestra.page.tokens import Pieces
from toolorchestra.types import Episode, Turn

MOST_ROLLOUTS, MOST_CHARS = 64, 500_000
"""Of a chunk: what opens within an instant."""
ASIDES = ("judge", "user")
"""Kinds of ledger entries that no turn holds."""
SKIPPED = ("completion_ids", "logprobs")
"""Fields of a turn that the texts of its tokens stand for."""


class Bodies:
    """Gathers trajectories and hands on each full chunk."""

    def __init__(self, hand_on: Callable[[str], None]) -> None:
        """Takes what hears of each chunk, in order."""
        self._hand_on = hand_on
        self._num_chunks = 0
        self._start()

    def add(self, attempt: Attempt, pieces: Pieces) -> tuple[int, int]:
        """Takes one more; returns its chunk and its place there."""
        if len(self._rollouts) >= MOST_ROLLOUTS or self._num_chars >= MOST_CHARS:
            self.flush()
        place = self._num_chunks, len(self._rollouts)
        body = {"episode": self._episode(attempt.episode), **body_of(attempt, pieces)}
        text = json.dumps(body, separators=(",", ":"))
        self._rollouts.append(text)
        self._num_chars += len(text)
        return place

    def flush(self) -> None:
        """Hands on what is left."""
        if self._rollouts:
            episodes, rollouts = ",".join(self._episodes), ",".join(self._rollouts)
            self._hand_on(f'{{"episodes":[{episodes}],"rollouts":[{rollouts}]}}')
            self._num_chunks += 1
            self._start()

    def _start(self) -> None:
        self._episodes: dict[str, int] = {}
        """By their JSON, as two runs may give one id to different episodes."""
        self._rollouts: list[str] = []
        self._num_chars = 0
        self._last: tuple[Episode, int] | None = None

    def _episode(self, episode: Episode) -> int:
        if self._last is not None and self._last[0] is episode:  # a group has one, many times
            return self._last[1]
        text = json.dumps(to_json(episode), separators=(",", ":"))
        if text not in self._episodes:
            self._episodes[text] = len(self._episodes)
            self._num_chars += len(text)
        self._last = episode, self._episodes[text]
        return self._episodes[text]


def body_of(attempt: Attempt, pieces: Pieces) -> dict[str, Any]:
    """All that is shown of one trajectory, but its episode."""
    rollout = attempt.rollout
    why_none = pieces.why_none(rollout)
    return {
        "status": rollout.status,
        "fault": rollout.fault,
        "answer": rollout.answer,
        "wall_s": rollout.wall_s,
        "verdict": to_json(attempt.verdict),
        "score": None
        if attempt.score is None
        else {"reward": attempt.score.reward, "terms": to_json(attempt.score.terms)},
        "utility": None if attempt.result is None else attempt.result.utility,
        "cost_usd": attempt.cost_usd,
        "latency_s": attempt.latency_s,
        "why_no_logprobs": why_none,
        "asides": [to_json(entry) for entry in rollout.ledger if entry.kind in ASIDES],
        "turns": [_turn(turn, None if why_none else pieces) for turn in rollout.turns],
    }


def _turn(turn: Turn, pieces: Pieces | None) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(turn) if field.name not in SKIPPED]
    fields = {name: to_json(getattr(turn, name), name) for name in names}
    fields["num_tokens"] = len(turn.completion_ids)
    fields["tokens"] = None if pieces is None else pieces.of(turn)
    return fields
