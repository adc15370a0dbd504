"""What the `server` group refuses, and what the shipped one serves."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from tests.composed import CONF, names

from toolorchestra.config import register
from toolorchestra.server.choose import choose, program_of, served_elsewhere
from toolorchestra.server.config import ServerConfig, ServiceConfig

CLOSED = ("gpt_", "claude_", "o3_")
TOO_LARGE = ("deepseek_r1",)
BILLIONS = {
    "Llama-3.1-8B": 8, "Llama-3.3-70B": 70.6, "Ultra-253B": 253, "Phi-4-mini": 3.8,
    "gemma-3-27b": 27.4, "Qwen3-32B": 32.8, "Coder-32B": 32.5, "Math-72B": 72.7, "Math-7B": 7.6,
    "starcoder2-15b": 16, "Codestral-22B": 22.2, "OpenMath-Llama-2-70b": 69,
    "deepseek-math-7b": 6.9,
}  # fmt: skip
"""Parameters of the models, by a part of their names."""

HEAVY = {"torch", "transformers", "lightning", "wandb", "faiss", "reasoning_gym", "matplotlib"}


def composed(*overrides):
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_object(compose("serve", overrides=list(overrides)))


@pytest.mark.parametrize("toolset", names("toolset"))
def test_every_model_of_every_toolset_is_served_or_closed_or_too_large(toolset):
    options = composed(f"toolset={toolset}")
    for name in served_elsewhere(options.server, options.toolset):
        assert name.startswith((*CLOSED, *TOO_LARGE))


def test_every_served_tool_is_a_tool():
    for service in composed().server.services.values():
        assert service.tools and set(service.tools) <= set(names("tool"))


def test_the_fewest_gpus_are_taken_that_leave_a_fifth_to_keys_and_values():
    for name, service in composed().server.services.items():
        (billions,) = [size for part, size in BILLIONS.items() if part in name]
        gpus = 1
        while 2 * billions >= 0.8 * 80 * gpus:  # GB of weights in bf16, GB of GPUs
            gpus *= 2
        assert service.tensor_parallel == gpus, name


def test_the_unseen_toolset_needs_its_four_open_models():
    options = composed("toolset=unseen")
    assert set(choose(options.server, options.toolset, [])) == {
        "google/gemma-3-27b-it",
        "mistralai/Codestral-22B-v0.1",
        "nvidia/OpenMath-Llama-2-70b-hf",
        "deepseek-ai/deepseek-math-7b-instruct",
    }


def test_a_launcher_does_not_make_a_sweep_of_it():
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("serve", overrides=["launcher=slurm_h100"], return_hydra_config=True)
    assert config.hydra.mode.name == "RUN"
    assert config.launcher.kind == "slurm"


def test_replicas_of_one_model_are_changed_on_the_command_line():
    options = composed("server.services={Qwen/Qwen2.5-Math-7B-Instruct: {replicas: 3}}")
    service = options.server.services["Qwen/Qwen2.5-Math-7B-Instruct"]
    assert (service.replicas, service.tools) == (3, ["qwen2_5_math_7b"])


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ({"tensor_parallel": 0}, "server.services.m.tensor_parallel: 0 is not allowed; use"),
        ({"replicas": -1}, "server.services.m.replicas: -1 is not allowed; use a whole"),
        ({"max_model_len": 0}, "server.services.m.max_model_len: 0 is not allowed; use"),
        ({"program": ["serve"]}, "server.services.m.program: .'serve'. is not allowed; use words"),
        ({"tools": ["a"]}, "server.services.m.tools: 'a' is not allowed; use others, as other"),
    ],
)  # fmt: skip
def test_what_is_not_allowed_is_named_with_its_value(service, message):
    with pytest.raises(ValueError, match=message):
        ServerConfig(services={"other": ServiceConfig(tools=["a"]), "m": ServiceConfig(**service)})


def test_a_search_server_takes_no_gpu_and_answers_for_the_search_tool():
    args = "server.services.local-search.args=[--index,/data/wiki]"
    options = composed("server=search", "toolset=local", args)
    (name,) = choose(options.server, options.toolset, [])
    assert options.server.services[name].tensor_parallel == 0
    words = program_of(options.server, name)
    assert words[:4] == ("{python}", "-m", "toolorchestra.retrieval", "serve")
    assert words[-2:] == ("--index", "/data/wiki")


def test_an_unknown_action_is_refused():
    with pytest.raises(ValueError, match="action: 'go' is not allowed; use start, status or stop"):
        composed("action=go")


def test_the_command_tells_of_servers_without_loading_anything_heavy(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "serve.py", f"registry={tmp_path}", "action=status"],
        cwd=CONF.parent, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Servers in" in done.stdout
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "hydra" in loaded and loaded.isdisjoint(HEAVY)
    assert list(tmp_path.iterdir()) == []
