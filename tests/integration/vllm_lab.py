"""A real vLLM worker for tests, and policies whose weights it may take."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import torch
from tests.unit.engine.tiny_model import full_logits, tiny_model
from transformers import Qwen3ForCausalLM

from toolorchestra.engine.base import Completion, Request
from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.engine import VllmEngine
from toolorchestra.engine.vllm.launch import check_machine, start_worker
from toolorchestra.engine.vllm.transfer import GpuTransfer
from toolorchestra.engine.vllm.weights import WeightFolders
from toolorchestra.engine.vllm.worker import VllmWorker
from toolorchestra.rollout.background import Background

MAX_CONTEXT = 640
BLOCK = 32
"""Tokens that vLLM's prefix cache shares at once, on a CPU."""
PROBE_IDS = tuple(range(5, 37))


class Lab:
    """An engine with one worker, and the event loop that it lives on."""

    def __init__(self, engine: VllmEngine, background: Background, log: Path) -> None:
        self.engine, self.log = engine, log
        self.run = background.run

    @property
    def worker(self) -> VllmWorker:
        """The only one."""
        return self.engine.workers[0]

    def load(self, model: Qwen3ForCausalLM, version: int) -> dict[str, float]:
        """Gives the worker a policy's weights."""
        return dict(self.run(self.engine.load(model, version)))

    def sample(self, requests: Sequence[Request]) -> list[Completion]:
        """All at once, each a rollout of its own."""
        return self.run(self.sampled(requests))

    async def sampled(self, requests: Sequence[Request]) -> list[Completion]:
        """As `sample`, to be awaited."""

        async def one(request: Request) -> Completion:
            async with self.engine.rollout(request.session):
                return await self.engine.generate(request)

        return await asyncio.gather(*map(one, requests))

    def counter(self, name: str) -> float:
        """One of vLLM's own counters."""
        return self.run(self.worker.server.counters())[f"vllm:{name}_total"]


@contextmanager
def open_lab(
    folder: Path,
    *,
    end_id: int,
    config: VllmConfig | None = None,
    num_gpus: int = 0,
    transfer: GpuTransfer | None = None,
) -> Iterator[Lab]:
    """Starts nothing before the first weights are loaded; leaves no process behind."""
    config = config or VllmConfig(kv_cache_gib=0.25)
    log = folder / "worker.log"
    start = partial(
        start_worker,
        config,
        check_machine(config, num_gpus=num_gpus, free_memory_gib=4.0),
        index=0,
        dtype="float32",
        max_context=MAX_CONTEXT,
        max_num_seqs=64,
        log=log,
    )
    worker = VllmWorker(
        "worker 0", config, start=start, max_logprob_gap=1e-3, min_context=MAX_CONTEXT
    )
    engine = VllmEngine(
        [worker],
        end_id=end_id,
        folders=WeightFolders(folder / "weights"),
        probe_ids=PROBE_IDS,
        sleeps=config.sleep,
        transfer=transfer,
    )
    background = Background()
    try:
        yield Lab(engine, background, log)
    finally:
        background.run(engine.close())
        background.close()


def policy(seed: int, *, is_tied: bool) -> Qwen3ForCausalLM:
    """A random policy."""
    config = copy.deepcopy(tiny_model().config)
    config.tie_word_embeddings = is_tied
    config.head_dim = 32  # the least that vLLM's CPU attention takes
    torch.manual_seed(seed)
    return Qwen3ForCausalLM(config).eval()


def true_logprobs(model: Qwen3ForCausalLM, request: Request, ids: Sequence[int]) -> list[float]:
    """The trainer's log-probabilities of sampled ids."""
    whole = [*request.prompt_ids, *ids]
    scores = full_logits(whole, model)[len(request.prompt_ids) - 1 : -1].log_softmax(-1)
    return scores.gather(-1, torch.tensor(list(ids))[:, None]).squeeze(-1).tolist()


def processes_of(folder: Path) -> list[psutil.Process]:
    """Living processes that were started with something below a folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if str(folder) in line and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found
