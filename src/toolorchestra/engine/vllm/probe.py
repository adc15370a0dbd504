"""What a server must be, a version of the policy as it takes it, and whether it has it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.engine.base import EngineFault
from toolorchestra.engine.vllm.launch import PINS
from toolorchestra.engine.vllm.server import VllmServer

Send = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """A version of the policy as workers take it, with what to hold them to."""

    folder: Path
    version: int
    probe_ids: tuple[int, ...]
    probe_logprobs: tuple[float, ...]
    """The trainer's, of all probe ids but the first."""
    send: Send | None = None
    """Sends them to the server at an address; `folder` then holds older ones, to start with. None:
    they are in the folder."""


async def probe(server: VllmServer, weights: Weights, *, name: str, max_gap: float) -> float:
    """Mean difference between a server's and the trainer's log-probabilities of the probe ids.

    Raises:
        WorkerDown: The server is gone.
        ValueError: It gives none, or they differ by more than `max_gap`.
    """
    try:
        found = await server.score(weights.probe_ids)
    except EngineFault as error:
        raise ValueError(f"rollout.vllm: {name} failed the probe: {error}") from error
    differences = [abs(a - b) for a, b in zip(found, weights.probe_logprobs, strict=True)]
    gap = sum(differences) / len(differences)
    if not gap <= max_gap:
        raise ValueError(
            f"rollout.vllm: {name} gives other log-probabilities than the trainer for the same "
            f"weights (version {weights.version}): they differ by {gap:.3g} on average, "
            f"{max_gap:g} is allowed (rollout.vllm.max_logprob_gap); it serves another model, or "
            "its weights were not replaced"
        )
    return gap


async def check_server(server: VllmServer, *, name: str, min_context: int) -> None:
    """Sees to it that a server is of a known release and holds long enough a context.

    Raises:
        WorkerDown: The server is gone.
        EngineFault: It does not say.
        ValueError: It is not, or does not.
    """
    release = await server.release()
    if release not in PINS.values():
        raise ValueError(
            f"rollout.vllm: {name} is vLLM {release}; use {' or '.join(PINS.values())}"
        )
    context = await server.max_context()
    if context < min_context:
        raise ValueError(
            f"rollout.vllm: {name} holds {context} tokens, fewer than model.max_context="
            f"{min_context}; start it with --max-model-len {min_context}"
        )
