"""An exported folder as others use it: loaded by transformers, and served by vLLM as it is."""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.integration.vllm_lab import MAX_CONTEXT, policy
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import full_logits
from tests.unit.model.test_export import adapted
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3ForCausalLM

from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.launch import SERVER, check_machine, cpu_flags, worker_env
from toolorchestra.engine.vllm.process import VllmProcess
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.export import export_policy
from toolorchestra.process import free_port

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.filterwarnings("ignore:Model has `tie_word_embeddings=True` and a tied"),
]

BOUND = 1e-4
NUM_NEW = 12
START_S = 180.0
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{number}",
            "description": f"math {number}. 2 cents, 3 s.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
    for number in range(3)
]


def chat(number: int) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": "Solve the task with the tools."},
        {"role": "user", "content": f"What is {number} + 2?"},
    ]


@pytest.fixture(scope="module")
def live() -> Qwen3ForCausalLM:
    """A policy whose output layer is tied, and whose adapters are still apart."""
    return adapted(policy(5, is_tied=True))


@pytest.fixture(scope="module")
def folder(live: Qwen3ForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = qwen_tokenizer()
    return export_policy(
        live,
        tokenizer,
        tmp_path_factory.mktemp("export") / "model",
        config=ModelConfig(max_new_tokens=NUM_NEW),
        end_id=tokenizer.eos_token_id,
        card="# A card\n",
    )


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """The address of a vLLM that was told the folder and its precision, and not how to sample."""
    config = VllmConfig(kv_cache_gib=0.25)
    machine = check_machine(config, num_gpus=0, free_memory_gib=4.0)
    process = VllmProcess(
        [sys.executable, "-m", SERVER, "--model", str(folder), "--dtype", "float32"]
        + ["--served-model-name", "policy", "--max-model-len", str(MAX_CONTEXT)]
        + ["--kv-cache-memory-bytes", str(1 << 28), *cpu_flags(config, MAX_CONTEXT)],
        env=worker_env(config, machine, 0),
        log=folder.parent / "vllm.log",
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


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5.0):
            return True
    except (urllib.error.URLError, OSError):
        return False


def served(url: str, messages: list[dict[str, str]]) -> dict[str, Any]:
    body = {
        "model": "policy", "messages": messages, "tools": TOOLS, "tool_choice": "none",
        "logprobs": True, "return_token_ids": True,
    }  # fmt: skip
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60.0) as answer:
        return json.load(answer)


def logprobs_after(model: Qwen3ForCausalLM, prompt: list[int], ids: list[int]) -> list[float]:
    scores = full_logits([*prompt, *ids], model)[len(prompt) - 1 : -1].log_softmax(-1)
    return scores.gather(-1, torch.tensor(ids)[:, None]).squeeze(-1).tolist()


@pytest.mark.parametrize("number", range(4))
def test_transformers_and_vllm_say_what_the_live_policy_says(live, folder, server, number):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    loaded = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    prompt = tokenizer.apply_chat_template(
        chat(number), tools=TOOLS, add_generation_prompt=True, return_dict=True, return_tensors="pt"
    )
    asked = prompt["input_ids"][0].tolist()
    ids = loaded.generate(**prompt)[0, len(asked) :].tolist()
    assert len(ids) == NUM_NEW or ids[-1] == tokenizer.eos_token_id

    answer = served(server, chat(number))
    (choice,) = answer["choices"]
    assert answer["prompt_token_ids"] == asked, "vLLM shows the chat by the same template"
    assert choice["token_ids"] == ids
    logprobs = [token["logprob"] for token in choice["logprobs"]["content"]]
    assert logprobs == pytest.approx(logprobs_after(live, asked, ids), abs=BOUND)
    assert logprobs == pytest.approx(logprobs_after(loaded.eval(), asked, ids), abs=BOUND)
