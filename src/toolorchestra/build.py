"""From options to the objects that they describe; `run` and `evaluate` put them together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import psutil
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.config import Config, PlayConfig
from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.dataset.source import TaskSource
from toolorchestra.dataset.split import Split
from toolorchestra.engine.api import ApiEngine
from toolorchestra.engine.base import PolicyEngine
from toolorchestra.engine.transformers_engine import TransformersEngine
from toolorchestra.engine.vllm.engine import VllmEngine
from toolorchestra.engine.vllm.launch import GIB, check_machine, start_worker
from toolorchestra.engine.vllm.transfer import GpuTransfer, vllm_sender
from toolorchestra.engine.vllm.weights import WeightFolders
from toolorchestra.engine.vllm.worker import VllmWorker
from toolorchestra.judge.registry import build_judge
from toolorchestra.model.config import ApiConfig, ModelConfig
from toolorchestra.model.policy import load_policy
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.providers import Providers
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.rollout.spending import Spending
from toolorchestra.tool.base import Tool
from toolorchestra.tool.domain import Environments, domain_tools
from toolorchestra.tool.registry import Services, build_all
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.offer import shown_as
from toolorchestra.trainer.module import OrchestratorModule, Outside
from toolorchestra.user.registry import build_user
from toolorchestra.worlds import worlds_of

MAX_LOGPROB_GAPS = {"float32": 1e-3, "bfloat16": 0.1}
"""Mean difference between an engine's and the trainer's log-probabilities that is allowed, by
precision. In float32 up to 6e-6 was seen; that of bfloat16 was not measured yet."""
PROBE = "Which tool is worth its price? Call it, read what it says, and answer the question: 2 + 2."
"""Text whose log-probabilities tell whether a worker has the trainer's weights."""


def build_tools(
    config: PlayConfig,
    environments: Environments,
    *,
    providers: Providers | None = None,
    cassette: Cassette | None = None,
) -> dict[str, Tool]:
    """Every tool of every world and every function of the tasks' domains, by name.

    A tool of two worlds is built once.

    Args:
        config: Names the worlds.
        environments: Where functions of domains work.
        providers: Who answers for real models and searches; None: all are simulated.
        cassette: Where answers of one's own servers are kept, or come from; None: neither.
    """
    tools: dict[str, Tool] = {}
    for _, toolset, _, _ in worlds_of(config):
        services = None
        if providers is not None and toolset.experts == "real":
            services = Services(providers=providers, prompts=config.expert, context=toolset.context)
        build_all(toolset.tools, services, cassette=cassette, into=tools)
    functions = domain_tools(config.domains, environments, catalogue=config.catalogue)
    return tools | functions


def tool_labels(config: PlayConfig) -> Mapping[str, str]:
    """How tables show each tool: simulated ones begin with "sim/"."""
    return {
        name: shown_as(name, options, is_simulated=toolset.is_simulated(name))
        for _, toolset, _, _ in worlds_of(config)
        for name, options in toolset.tools.items()
    }


def build_speaker(config: ModelConfig, tokenizer: PreTrainedTokenizerBase) -> Speaker:
    """How the policy is spoken to."""
    renderer = Renderer(
        cast(PreTrainedTokenizerFast, tokenizer),
        template=builtin_template() if config.template == "qwen3" else None,
        is_thinking=config.is_thinking,
    )
    return Speaker(
        tokenizer=tokenizer,
        renderer=renderer,
        system_prompt=config.system_prompt,
        tool_style=config.tool_style,
        upstream=config.upstream if config.protocol == "upstream" else None,
        is_native=config.api is not None,
    )


def build_providers(config: PlayConfig, cassette: Cassette) -> Providers | None:
    """Who answers for real models and searches; None where nobody is asked."""
    has_api = config.model.api is not None
    is_asked = _has_real_experts(config) or "llm" in (config.judge.kind, config.user.kind)
    return Providers(config.provider, cassette) if is_asked or has_api else None


def _has_real_experts(config: PlayConfig) -> bool:
    return any(toolset.experts == "real" for _, toolset, _, _ in worlds_of(config))


def build_stage(
    config: PlayConfig,
    speaker: Speaker,
    run_dir: Path | None = None,
    cassette: Cassette | None = None,
    providers: Providers | None = None,
) -> Stage:
    """What plays episodes, whoever samples the messages; what it pays is kept in `run_dir`.

    It closes `providers`, which it makes where none are given.

    Raises:
        ValueError: A tool cannot be had, or the cassette cannot be used.
    """
    waits = _has_real_experts(config) or config.model.api is not None
    cassette = cassette or Cassette(config.provider.cassette)
    providers = providers or build_providers(config, cassette)
    environments = Environments()
    return Stage(
        tools=build_tools(config, environments, providers=providers, cassette=cassette),
        providers=providers,
        expert_deadline_s=config.provider.deadline_s if waits else None,
        user=build_user(config.user, config.pricing, providers, environments),
        judge=build_judge(config.judge, config.pricing, providers),
        spending=Spending(config.max_cost_usd, run_dir=run_dir),
        speaker=speaker,
        config=config.rollout,
        max_new_tokens=config.model.max_new_tokens,
        max_context=config.model.max_context,
    )


def build_engine(
    config: PlayConfig, model: PreTrainedModel, speaker: Speaker, run_dir: Path
) -> PolicyEngine:
    """The engine that samples from the policy.

    Raises:
        ValueError: The machine has not what the engine needs.
    """
    end_id = speaker.renderer.end_of_turn_id
    if config.rollout.engine == "vllm":
        return build_vllm_engine(config, speaker, run_dir, end_id=end_id)
    return TransformersEngine(
        model,
        end_id=end_id,
        num_slots=config.rollout.max_concurrent,
        max_length=config.model.max_context,
        batch_wait_s=config.rollout.batch_wait_s,
        prefill_tokens=config.rollout.prefill_tokens,
    )


def build_api_engine(config: PlayConfig, api: ApiConfig, providers: Providers) -> ApiEngine:
    """The engine that asks a provider for the policy's messages.

    Raises:
        ValueError: The provider's key is not set.
    """
    return ApiEngine(
        providers.client(api.provider, config.model.path),
        api,
        system_prompt=config.model.system_prompt,
        tool_style=config.model.tool_style,
        deadline_s=config.provider.deadline_s,
    )


def build_vllm_engine(
    config: PlayConfig, speaker: Speaker, run_dir: Path, *, end_id: int
) -> VllmEngine:
    """Workers that start with the first weights they are given, or servers at the given URLs."""
    options = config.rollout.vllm
    gap = options.max_logprob_gap or MAX_LOGPROB_GAPS[config.model.dtype]
    worker = partial(VllmWorker, config=options, max_logprob_gap=gap)
    worker = partial(worker, min_context=config.model.max_context)
    if options.urls:
        workers = [worker(url, start=None, url=url) for url in options.urls]
    else:
        machine = check_machine(
            options,
            num_gpus=torch.cuda.device_count(),
            free_memory_gib=psutil.virtual_memory().available / GIB,
        )
        per_worker = -(-config.rollout.max_concurrent // options.num_workers)
        start = partial(
            start_worker,
            options,
            machine,
            dtype=config.model.dtype,
            max_context=config.model.max_context,
            max_num_seqs=per_worker,
        )
        workers = [
            worker(
                f"worker {index}",
                start=partial(start, index=index, log=run_dir / "vllm" / f"worker_{index}.log"),
            )
            for index in range(options.num_workers)
        ]
    weights_dir = Path(options.weights_dir) if options.weights_dir else run_dir
    return VllmEngine(
        workers,
        end_id=end_id,
        folders=WeightFolders(weights_dir / "weights"),
        probe_ids=speaker.tokenizer.encode(PROBE, add_special_tokens=False),
        sleeps=options.sleep,
        transfer=None
        if options.transfer == "file"
        else GpuTransfer(vllm_sender(options.transfer, num_gpus=options.tensor_parallel)),
    )


def build_sampler(
    config: PlayConfig,
    toolset: ToolsetConfig,
    pricing: PricingConfig,
    tasks: TaskSource,
    split: Split,
) -> EpisodeSampler:
    """Draws the episodes of one world and split."""
    return EpisodeSampler(
        toolset=toolset,
        pricing=pricing,
        preference=config.preference,
        tasks=tasks,
        policy=config.model.priced_as,
        seed=config.seed,
        split=split,
    )


def build_module(
    config: Config, model: PreTrainedModel, *, outside: Outside | None
) -> OrchestratorModule:
    """What trains the policy, on any rank."""
    if config.trainer.activation_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return OrchestratorModule(
        model,
        outside=outside,
        trainer_config=config.trainer,
        algorithm=config.algorithm,
        max_sampled_tokens=config.model.max_context,
        reference=load_policy(config.model)[0] if config.algorithm.kl != "none" else None,
    )


def choices(options: PlayConfig) -> dict[str, Any]:
    """The options that tell the points of a sweep apart."""
    groups = (
        "toolset", "pricing", "preference", "reward", "dataset", "model", "rollout", "user",
        "judge", "algorithm", "trainer",
    )  # fmt: skip
    named = {group: getattr(options, group).name for group in groups if hasattr(options, group)}
    return {"experiment": options.experiment.name, **named, "seed": options.seed}
