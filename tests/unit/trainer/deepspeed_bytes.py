"""One rank of DeepSpeed on a CPU that measures itself:

python -m tests.unit.trainer.deepspeed_bytes RANK NUM_RANKS PORT

For every precision and ZeRO stage it prints a line of JSON with the bytes that are held between two
micro-batches of the second update, and the most that were at any time of it.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from dataclasses import asdict, dataclass

import torch
from tests.unit.trainer.bytes_alive import BytesAlive
from tests.unit.trainer.shapes import model_of, shape

from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.optimizer import make_optimizer
from toolorchestra.trainer.strategy import deepspeed_config

WIDE = shape(
    num_hidden_layers=2,
    hidden_size=512,
    intermediate_size=1536,
    num_attention_heads=8,
    num_key_value_heads=4,
)
"""All its matrices are large enough to be divided by ZeRO 3."""
NUM_TOKENS = 32
CASES = [(dtype, stage) for dtype in ("bfloat16", "float32") for stage in range(4)]


@dataclass(frozen=True)
class Measured:
    """One case."""

    dtype: str
    stage: int
    held: int
    """Bytes between two micro-batches."""
    peak: int


def measure(dtype: str, stage: int, num_ranks: int) -> Measured:
    """Makes two updates of two micro-batches each, and looks at the second."""
    import deepspeed

    config = TrainerConfig(
        strategy="deepspeed", zero_stage=stage, devices=num_ranks, optimizer="adamw_fused"
    )
    model = model_of(WIDE, dtype)
    ids = torch.randint(0, WIDE.vocab_size, (1, NUM_TOKENS))
    held = 0
    with BytesAlive([*model.parameters(), *model.buffers()]) as alive:
        engine, *_ = deepspeed.initialize(
            config=deepspeed_config(config, dtype=dtype),
            model=model,
            model_parameters=list(model.parameters()),
            optimizer=make_optimizer(model.parameters(), config),
            dist_init_required=False,
        )
        for _ in range(2):
            alive.peak = alive.now
            for is_last in (False, True):
                engine.set_gradient_accumulation_boundary(is_last)
                engine.backward(engine(input_ids=ids, labels=ids).loss)
                gc.collect()
                held = held if is_last else alive.now
            engine.step()
    result = Measured(dtype=dtype, stage=stage, held=held, peak=alive.peak)
    engine.destroy()
    return result


def main() -> None:
    """Measures all cases."""
    rank, num_ranks, port = sys.argv[1:]
    os.environ |= {
        "DS_ACCELERATOR": "cpu",
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": num_ranks,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
    }
    torch.set_num_threads(1)
    import deepspeed

    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # it takes minutes to compile
    deepspeed.init_distributed("gloo")
    for dtype, stage in CASES:
        measured = measure(dtype, stage, int(num_ranks))
        if rank == "0":
            print(json.dumps(asdict(measured)), flush=True)


if __name__ == "__main__":
    main()
