"""The same 20 updates by DeepSpeed, on 1 and 2 ranks, and by a plain loop: how far apart they end.

    python -m benchmarks.update.zero [--steps 20] [--only float32,2,3]

The plain loop reads each row alone, in full, through transformers' own forward pass, and keeps its
weights in float32; with bfloat16 it computes on a rounded copy, as DeepSpeed does. Both are given
the same rows, so that all differences come from how the gradient is made and applied.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from types import SimpleNamespace

import torch
from rich.console import Console
from rich.table import Table

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.objective import Tokens, policy_objective
from toolorchestra.engine.vllm.weights import logprobs_of
from toolorchestra.entry.quiet import quieten_libraries
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.policy import load_policy
from toolorchestra.process import free_port
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.collect import StepData
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.fit import checkpoints_of, fit
from toolorchestra.trainer.module import OrchestratorModule
from toolorchestra.types import Row

ALGORITHM = AlgorithmConfig()
RATE, CLIP_NORM, NUM_ROWS = 1e-4, 1.0, 12
BUDGET = 400  # tokens of a micro-batch: several on each rank


def rows_of(step: int) -> list[TrainingRow]:
    """Random sequences of uneven lengths, three to a prompt; alike in every process."""
    rng = Random(step)
    rows = []
    for group in range(NUM_ROWS // 3):
        prompt = [rng.randrange(3, 1000) for _ in range(rng.randrange(20, 120))]
        for sample in range(3):
            rest = [rng.randrange(3, 1000) for _ in range(rng.randrange(4, 90))]
            mask = [0] * len(prompt) + [int(i % 7 < 5) for i in range(len(rest))]
            row = Row(
                ids=tuple(prompt + rest),
                loss_mask=tuple(mask),
                logprobs=tuple(-7.0 * bit for bit in mask),  # replaced by those of the start
                versions=tuple(bit - 1 for bit in mask),
            )
            name, advantage = f"s{step}g{group}/{sample}", rng.uniform(-2, 2)
            rows.append(TrainingRow(row=row, advantage=advantage, name=name))
    return rows


def sampled_rows(num_steps: int) -> list[list[TrainingRow]]:
    """Each step's rows with the log-probabilities of the policy that training starts from."""
    start, _ = load_policy(ModelConfig())
    return [[_sampled_by(start, item) for item in rows_of(step)] for step in range(num_steps)]


def _sampled_by(model: object, item: TrainingRow) -> TrainingRow:
    values = [0.0, *logprobs_of(model, list(item.row.ids))]
    logprobs = tuple(v * bit for v, bit in zip(values, item.row.loss_mask, strict=True))
    return replace(item, row=replace(item.row, logprobs=logprobs))


def plain(steps: list[list[TrainingRow]], dtype: str) -> tuple[list[float], torch.Tensor]:
    """Losses and final weights of the plain loop."""
    master, _ = load_policy(ModelConfig())
    computed, _ = load_policy(ModelConfig(dtype=dtype))
    masters, copies = list(master.parameters()), list(computed.parameters())
    optimizer = torch.optim.AdamW(masters, lr=RATE, betas=(0.9, 0.99), weight_decay=0.0)
    losses = []
    for rows in steps:
        with torch.no_grad():
            for copy, weight in zip(copies, masters, strict=True):
                copy.copy_(weight)
        count = sum(item.num_loss_tokens for item in rows)
        losses.append(sum(_plain_loss(computed, item, count) for item in rows))
        for weight, copy in zip(masters, copies, strict=True):
            weight.grad, copy.grad = copy.grad.float(), None
        torch.nn.utils.clip_grad_norm_(masters, CLIP_NORM)
        optimizer.step()
    return losses, torch.cat([weight.detach().flatten() for weight in masters])


def _plain_loss(model: torch.nn.Module, item: TrainingRow, count: int) -> float:
    ids = torch.tensor([item.row.ids])
    logits = model(input_ids=ids).logits[0, :-1].float()
    logprobs = torch.log_softmax(logits, -1).gather(-1, ids[0, 1:, None]).squeeze(-1)
    tokens = Tokens(
        logprobs_T=logprobs,
        sampler_logprobs_T=torch.tensor(item.row.logprobs[1:]),
        advantages_T=torch.full_like(logprobs, item.advantage),
        mask_T=torch.tensor(item.row.loss_mask[1:]) == 1,
        sequences_T=torch.zeros(len(logprobs), dtype=torch.long),
        num_sequences=1,
    )
    loss = policy_objective(tokens, ALGORITHM, denominator=float(count)).loss
    loss.backward()
    return float(loss.detach())


class Fixed:
    """The outside of a run that samples nothing and writes down its losses."""

    def __init__(self, steps: list[list[TrainingRow]], model: torch.nn.Module) -> None:
        self.source, self.losses = self, []
        self._steps, self._model = iter(steps), model

    def collect(self, version: int) -> StepData:
        """The next step's rows."""
        return StepData(rows=tuple(next(self._steps)), groups=(), metrics={})

    def state(self) -> dict[str, object]:
        """Nothing."""
        return {}

    def take_weights(self, version: int) -> dict[str, float]:
        """Samples from nothing."""
        return {}

    def needs_weights(self) -> bool:
        """It never does."""
        return False

    def record(self, step: int, data: StepData, metrics: dict[str, float]) -> None:
        """Keeps the loss."""
        self.losses.append(metrics["update/loss"])

    def take_result(self) -> None:
        """Keeps the last weights."""
        self.weights = torch.cat([w.detach().float().flatten() for w in self._model.parameters()])


def one_rank(options: SimpleNamespace) -> None:
    """Trains as one of the ranks; the first writes down what came of it."""
    torch.set_num_threads(1)
    model, _ = load_policy(ModelConfig(dtype=options.dtype))
    is_first = os.environ["LOCAL_RANK"] == "0"
    outside = Fixed(sampled_rows(options.steps), model) if is_first else None
    config = TrainerConfig(
        max_steps=options.steps, learning_rate=RATE, clip_norm=CLIP_NORM, beta2=0.99,
        micro_batch_tokens=BUDGET, strategy="deepspeed", zero_stage=options.stage,
        devices=options.ranks, accelerator="cpu", checkpoint_every=10**6,
    )  # fmt: skip
    module = OrchestratorModule(
        model, outside=outside, trainer_config=config, algorithm=ALGORITHM, max_sampled_tokens=100
    )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(options.out).parent if options.ranks > 1 else Path(folder)
        checkpoints = checkpoints_of(target, config, model=model.config, dtype=options.dtype)
        fit(module, config, dtype=options.dtype, checkpoints=checkpoints, resume_from=None)
    if outside is not None:
        torch.save({"losses": outside.losses, "weights": outside.weights}, options.out)


def run_ranks(options: dict[str, object]) -> dict[str, object]:
    """Runs all ranks of one combination."""
    with tempfile.TemporaryDirectory() as folder:
        options = options | {"out": str(Path(folder) / "result.pt")}
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "NODE_RANK": "0"}
        command = [sys.executable, "-m", "benchmarks.update.zero", "--rank", json.dumps(options)]
        ranks = [
            subprocess.Popen(
                command,
                env=os.environ | place | {"LOCAL_RANK": str(rank)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            for rank in range(int(str(options["ranks"])))
        ]
        errors = [rank.communicate()[1] for rank in ranks]
        for rank, error in zip(ranks, errors, strict=True):
            if rank.returncode:
                raise SystemExit(error.decode()[-2000:])
        result: dict[str, object] = torch.load(options["out"])
        return result


def main() -> None:
    """Compares all combinations, or those named."""
    quieten_libraries()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", help="DTYPE,RANKS,STAGE")
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        one_rank(SimpleNamespace(**json.loads(arguments.rank)))
        return
    steps = sampled_rows(arguments.steps)
    table = Table(title=f"{arguments.steps} updates, against a plain loop")
    for column in ("precision", "ranks", "ZeRO", "loss, largest gap", "weights, largest gap",
                   "weights, gap / change"):  # fmt: skip
        table.add_column(column, justify="right")
    start = torch.cat([w.detach().flatten() for w in load_policy(ModelConfig())[0].parameters()])
    wanted = list(product(("float32", "bfloat16"), (1, 2), (0, 1, 2, 3)))
    if arguments.only:
        wanted = [kind for kind in wanted if ",".join(map(str, kind)) == arguments.only]
    for dtype in dict.fromkeys(kind[0] for kind in wanted):
        losses, weights = plain(steps, dtype)
        for _, ranks, stage in (kind for kind in wanted if kind[0] == dtype):
            found = run_ranks(
                {"ranks": ranks, "stage": stage, "dtype": dtype, "steps": arguments.steps}
            )
            gap = max(abs(a - b) for a, b in zip(found["losses"], losses, strict=True))
            off = found["weights"] - weights
            moved = float((weights - start).norm())
            table.add_row(
                dtype, str(ranks), str(stage), f"{gap:.1e}", f"{float(off.abs().max()):.1e}",
                f"{float(off.norm()) / moved:.1e}",
            )  # fmt: skip
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
