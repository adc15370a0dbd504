"""The project's engines with the workload's model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import torch
from transformers import PreTrainedModel

from benchmarks.rollout.workload import MAX_LENGTH, build_words, end_id
from toolorchestra.build import MAX_LOGPROB_GAPS, PROBE
from toolorchestra.engine.base import PolicyEngine
from toolorchestra.engine.transformers_engine import TransformersEngine
from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.engine import VllmEngine
from toolorchestra.engine.vllm.launch import GIB, check_machine, start_worker
from toolorchestra.engine.vllm.weights import WeightFolders
from toolorchestra.engine.vllm.worker import VllmWorker
from toolorchestra.rollout.config import RolloutConfig


@contextmanager
def make_engine(
    name: str, model: PreTrainedModel, *, num_rows: int, batch_wait_s: float = 60.0
) -> Iterator[PolicyEngine]:
    """An engine for up to `num_rows` rollouts at once; "transformers" or "vllm".

    A worker's log and weights live in a folder of their own as long as the engine does. Whoever
    loads the engine on an event loop must close it there.
    """
    if name == "transformers":
        yield TransformersEngine(
            model,
            end_id=end_id(),
            num_slots=num_rows,
            max_length=MAX_LENGTH,
            batch_wait_s=batch_wait_s,
            prefill_tokens=RolloutConfig().prefill_tokens,
        )
        return
    assert name == "vllm", name
    with TemporaryDirectory(prefix="toolorchestra-bench-") as folder:
        yield _vllm(Path(folder), num_rows)


def _vllm(folder: Path, num_rows: int) -> VllmEngine:
    config = VllmConfig()
    machine = check_machine(
        config,
        num_gpus=torch.cuda.device_count(),
        free_memory_gib=psutil.virtual_memory().available / GIB,
    )
    start = partial(
        start_worker,
        config,
        machine,
        index=0,
        dtype="float32",
        max_context=MAX_LENGTH,
        max_num_seqs=num_rows,
        log=folder / "worker.log",
    )
    worker = VllmWorker(
        "worker 0",
        config,
        start=start,
        max_logprob_gap=MAX_LOGPROB_GAPS["float32"],
        min_context=MAX_LENGTH,
    )
    return VllmEngine(
        [worker],
        end_id=end_id(),
        folders=WeightFolders(folder / "weights"),
        probe_ids=build_words().encode(PROBE, add_special_tokens=False),
    )
