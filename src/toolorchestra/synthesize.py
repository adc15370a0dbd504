"""From options to what models write: `synthesize.py descriptions`."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from omegaconf import DictConfig, OmegaConf

from toolorchestra.codec import to_json
from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.dataset.source import make_source
from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.provider.providers import Providers
from toolorchestra.report.files import replace_text
from toolorchestra.synthesis.commands import DescriptionsConfig
from toolorchestra.synthesis.describe import Described, attempt_all, write_description
from toolorchestra.tool.base import Tool
from toolorchestra.tool.registry import Services, build_all
from toolorchestra.types import Episode

log = logging.getLogger(__name__)


def write_descriptions(config: DictConfig) -> list[Path]:
    """Describes the models of a toolset; one that has a file already is left alone.

    Raises:
        ValueError: The options do not go together, nobody serves a model, or one gives nothing to
            go by; descriptions that were written before are kept.
    """
    options = cast(DescriptionsConfig, OmegaConf.to_object(config))
    names = _names(options)
    folder = Path(options.out)
    missing = [name for name in names if not (folder / f"{name}.json").exists()]
    for name in sorted(set(names) - set(missing)):
        log.info("%s: %s is there already", name, folder / f"{name}.json")
    return asyncio.run(_write(options, missing, folder))


def _names(options: DescriptionsConfig) -> list[str]:
    models = [name for name, tool in options.toolset.tools.items() if tool.kind == "llm"]
    if unknown := [name for name in options.tools if name not in models]:
        raise ValueError(f"tools: {unknown[0]!r} is not allowed; use {', '.join(models)}")
    if options.dataset.domains:
        raise ValueError(
            f"dataset.kind: {options.dataset.kind} is not allowed with tasks of domains, which no "
            "single call can solve; use another dataset"
        )
    names = list(options.tools) or models
    own = [n for n in names if options.toolset.tools[n].priced_as == options.writer.model]
    if options.toolset.experts != "real":
        raise ValueError(
            "toolset.experts: simulated is not allowed; use real: nobody else can tell"
        )
    if own:
        raise ValueError(
            f"writer.model: {options.writer.model} is not allowed, as {own[0]} is that model: "
            "another one is to describe it; name the others in tools=[...]"
        )
    return names


async def _write(options: DescriptionsConfig, names: list[str], folder: Path) -> list[Path]:
    providers = Providers(options.provider)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(providers.close)
        services = Services(
            providers=providers, prompts=options.expert, context=options.toolset.context
        )
        writer = providers.model(options.writer.model, wanted_by="writer.model")
        tools: dict[str, Tool] = {}
        needed = {*names, *(options.toolset.tools[name].uses for name in names)}
        chosen = {name: tool for name, tool in options.toolset.tools.items() if name in needed}
        build_all(chosen, services, into=tools)
        for tool in tools.values():
            stack.push_async_callback(tool.close)
        episodes = _episodes(options)
        paths = []
        for name in names:
            log.info("%s: %d tasks", name, len(episodes))
            attempts = await attempt_all(tools[name], episodes)
            try:
                text, usage = await write_description(
                    writer,
                    options.writer,
                    attempts,
                    deadline_s=options.provider.deadline_s,
                    tell=log.info,
                )
            except ProviderFault as fault:
                raise ValueError(
                    f"writer.model: {options.writer.model} did not describe {name} ({fault}); run "
                    "it again, which leaves finished files alone, or use another writer"
                ) from fault
            described = Described(
                tool=name,
                model=options.toolset.tools[name].priced_as,
                description=text,
                writer=options.writer.model,
                written_on=datetime.now(UTC).date().isoformat(),
                attempts=attempts,
                writer_usage=usage,
            )
            paths.append(folder / f"{name}.json")
            folder.mkdir(parents=True, exist_ok=True)
            line = json.dumps(to_json(described), indent=1, ensure_ascii=False)
            replace_text(paths[-1], line + "\n")
            log.info("%s: %s", name, text)
    return paths


def _episodes(options: DescriptionsConfig) -> list[Episode]:
    """The same tasks for every model: of the training split, that no benchmark holds."""
    sampler = EpisodeSampler(
        toolset=replace(options.toolset, descriptions=""),
        pricing=options.pricing,
        preference=PreferenceConfig(name="none", kinds={"none": 1.0}),
        tasks=make_source(options.dataset, seed=options.seed),
        policy=options.priced_as,
        seed=options.seed,
        split="train",
    )
    return [sampler(index) for index in range(options.num_tasks)]
