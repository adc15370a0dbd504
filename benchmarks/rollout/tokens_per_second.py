"""Tokens a second of one engine: 64 prompts of 128 tokens, 64 tokens sampled for each, all at once.

The reference is `generate` of transformers, with the same model, prompts and sampling. The engines
are asked as the rollout loop asks them; a vLLM worker through its HTTP routes.

    python -m benchmarks.rollout.tokens_per_second --engine vllm
"""

from __future__ import annotations

import argparse
import asyncio
import time
from random import Random
from statistics import median

import torch
from transformers import PreTrainedModel

from benchmarks.rollout.actors import make_episode
from benchmarks.rollout.engines import make_engine
from benchmarks.rollout.figures import add_common, begin, tell
from benchmarks.rollout.workload import GROUP_SIZE, SEED, build_model
from toolorchestra.engine.base import PolicyEngine, Request

NUM_PROMPT, NUM_NEW = 128, 64


def make_prompts(num_rows: int, vocab_size: int) -> list[tuple[int, ...]]:
    """Prompts of random tokens: none shares a prefix with another."""
    rng = Random(SEED)
    return [tuple(rng.choices(range(vocab_size), k=NUM_PROMPT)) for _ in range(num_rows)]


@torch.inference_mode()
def generate(model: PreTrainedModel, prompts: list[tuple[int, ...]]) -> int:
    """Samples with transformers; returns how many tokens."""
    ids = torch.tensor(prompts)
    whole = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        max_new_tokens=NUM_NEW,
    )
    return int(whole[:, NUM_PROMPT:].numel())


async def ask(engine: PolicyEngine, prompts: list[tuple[int, ...]]) -> int:
    """Samples with an engine; returns how many tokens."""
    episode = make_episode(0)

    async def one(row: int) -> int:
        session = f"prompt-{row}/0"
        async with engine.rollout(session):
            request = Request(
                prompt_ids=prompts[row],
                session=session,
                seed=row,
                max_tokens=NUM_NEW,
                temperature=1.0,
                episode=episode,
                turns=(),
            )
            return len((await engine.generate(request)).ids)

    return sum(await asyncio.gather(*map(one, range(len(prompts)))))


async def time_engine(name: str, prompts: list[tuple[int, ...]], repeats: int) -> list[float]:
    """Tokens a second of an engine that remembers nothing of the repetition before."""
    model, rates = build_model(), []
    with make_engine(name, model, num_rows=len(prompts)) as engine:
        try:
            for version in range(repeats + 1):
                await engine.load(model, version)
                start_s = time.perf_counter()
                rates.append(await ask(engine, prompts) / (time.perf_counter() - start_s))
        finally:
            await engine.close()
    return rates[1:]


def time_generate(prompts: list[tuple[int, ...]], repeats: int) -> list[float]:
    """Tokens a second of transformers alone."""
    model, rates = build_model(), []
    for _ in range(repeats + 1):
        start_s = time.perf_counter()
        rates.append(generate(model, prompts) / (time.perf_counter() - start_s))
    return rates[1:]


def main() -> None:
    """Warms up once and measures some times; the median counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--engine", choices=("generate", "transformers", "vllm"), default="transformers"
    )
    parser.add_argument("--repeats", type=int, default=3)
    add_common(parser)
    options = begin(parser)
    num_rows = options.groups * GROUP_SIZE
    prompts = make_prompts(num_rows, build_model().config.vocab_size)
    if options.engine == "generate":
        rates = time_generate(prompts, options.repeats)
    else:
        rates = asyncio.run(time_engine(options.engine, prompts, options.repeats))
    tell(tokens_per_s=median(rates), rows=num_rows, sampled=num_rows * NUM_NEW)


if __name__ == "__main__":
    main()
