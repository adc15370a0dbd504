"""The peer: TRL's GRPOTrainer plays the same workload; its rollouts are timed apart from its step.

It renders, samples, parses and calls the tool itself; only the text of each sampled message is
written over. The tool is an async function, the better of the two kinds for it. The first step
warms up, without latency.

    python -m benchmarks.rollout.trl_peer --latency heavy
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1")  # read on import

import trl
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from benchmarks.rollout.figures import add_common, begin, tell
from benchmarks.rollout.workload import (
    GROUP_SIZE,
    LATENCIES,
    MAX_LENGTH,
    NUM_TOKENS,
    SCALE,
    SYSTEM_PROMPT,
    TOOL,
    build_model,
    build_words,
    call_of,
    latency_s,
    message_ids,
    question,
    result_text,
)
from toolorchestra.chat.messages import describe


class Peer(GRPOTrainer):  # type: ignore[misc]
    """GRPOTrainer with a clock and a script."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.kind, self.turn, self.num_calls, self.num_sampled = "none", 0, 0, 0
        self.num_tokens = 0
        self.rollout_s: list[float] = []
        self.generate_s: list[float] = []
        self.step_s: list[float] = []
        super().__init__(*args, **kwargs)

    def _generate_single_turn(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        start_s = time.perf_counter()
        sampled, *others = super()._generate_single_turn(*args, **kwargs)
        self.generate_s[-1] += time.perf_counter() - start_s
        # every row calls in every turn, so their order is that of the batch
        ids = [message_ids(row, self.turn) for row in range(len(sampled))]
        assert all(len(row) == NUM_TOKENS for row in sampled), "messages that ended early"
        self.turn += 1
        self.num_sampled += sum(map(len, ids))
        return ids, *others

    def _generate(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        self.turn = self.num_calls = self.num_sampled = 0
        self.generate_s.append(0.0)
        start_s = time.perf_counter()
        played = super()._generate(*args, **kwargs)
        self.rollout_s.append(time.perf_counter() - start_s)
        prompt_ids, completion_ids, *_ = played
        self.num_tokens = sum(map(len, [*prompt_ids, *completion_ids]))
        return tuple(played)

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        """One step, rollouts included; tools are slow from the second on."""
        start_s = time.perf_counter()
        loss = super().training_step(*args, **kwargs)
        self.step_s.append(time.perf_counter() - start_s)
        return loss


def build_peer(kind: str, scale: float, num_groups: int, num_steps: int, folder: Path) -> Peer:
    """The trainer with the workload's model, tool and prompts."""
    words = build_words()
    # TRL finds out how calls are written by the very text of this template
    template = Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    words.chat_template = template.read_text(encoding="utf-8")

    async def search(query: str):  # type: ignore[no-untyped-def]  # or the prompt would show it
        row, turn = call_of({"query": query})
        peer.num_calls += 1
        now = kind if peer.step_s else "none"
        await asyncio.sleep(latency_s(now, row, turn, scale=scale))
        return result_text(row, turn)

    told = TOOL.parameters["properties"]["query"]["description"]
    search.__doc__ = f"{describe(TOOL)}\n\nArgs:\n    query: {told}\n"
    prompts = [
        [
            {"role": "system", "content": SYSTEM_PROMPT},
            {"role": "user", "content": question(group * GROUP_SIZE)},
        ]
        for group in range(num_groups)
    ]
    peer = Peer(
        model=build_model().train(),
        processing_class=words,
        reward_funcs=lambda completions, **_: [float(i % 3) for i in range(len(completions))],
        args=GRPOConfig(
            output_dir=str(folder),
            per_device_train_batch_size=num_groups * GROUP_SIZE,
            num_generations=GROUP_SIZE,
            max_completion_length=MAX_LENGTH,
            max_steps=num_steps + 1,
            shuffle_dataset=False,
            learning_rate=1e-4,
            beta=0.0,
            loss_type="dapo",
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            generation_kwargs={"max_new_tokens": NUM_TOKENS},
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([{"prompt": prompt} for prompt in prompts]),
        tools=[search],
    )
    return peer


def main() -> None:
    """Trains a step to warm up and the others to be timed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--latency", choices=LATENCIES, default="none")
    parser.add_argument("--scale", type=float, default=SCALE, help="of heavy latencies")
    parser.add_argument("--steps", type=int, default=1, help="timed steps; the median counts")
    add_common(parser)
    options = begin(parser)
    with TemporaryDirectory(prefix="toolorchestra-bench-") as folder:
        peer = build_peer(
            options.latency, options.scale, options.groups, options.steps, Path(folder)
        )
        peer.train()
    tell(
        rollout_s=median(peer.rollout_s[1:]),
        generate_s=median(peer.generate_s[1:]),
        step_s=median(peer.step_s[1:]),
        rows=options.groups * GROUP_SIZE,
        calls=peer.num_calls,
        sampled=peer.num_sampled,
        tokens=peer.num_tokens,
    )


if __name__ == "__main__":
    main()
