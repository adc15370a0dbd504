"""Has two judges judge the same answers, and tells how far they agree."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from omegaconf import DictConfig, OmegaConf

from toolorchestra.config import AgreementConfig
from toolorchestra.judge.base import Judge
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.judge.registry import build_judge
from toolorchestra.parties import check_judge
from toolorchestra.provider.providers import Providers
from toolorchestra.report.agreement import Twice, agreement_tables, disagreements
from toolorchestra.report.files import replace_text
from toolorchestra.report.samples import Sample, read_samples
from toolorchestra.report.shown import show_table
from toolorchestra.types import Verdict

log = logging.getLogger(__name__)


def compare_judges(config: DictConfig) -> None:
    """Prints the agreement of two judges, and writes down where they differ.

    Raises:
        ValueError: The config or the file does not allow it; the message says what to do.
        TooManyUnscored: A judge fails too often.
    """
    options = cast(AgreementConfig, OmegaConf.to_object(config))
    for judge in (options.first, options.second):
        check_judge(judge, options.pricing, options.provider)
    samples = read_samples(Path(options.file))
    items = asyncio.run(_judge_twice(options, samples))
    for table in agreement_tables(items, (_name(options.first), _name(options.second))):
        show_table(table)
    out = Path(options.out)
    replace_text(out, disagreements(items))
    log.info("where they differ: %s", out)


def _name(judge: JudgeConfig) -> str:
    return judge.name if judge.kind == "match" else f"{judge.name} ({judge.model})"


async def _judge_twice(options: AgreementConfig, samples: Sequence[Sample]) -> list[Twice]:
    providers = Providers(options.provider)
    try:
        judges = [
            build_judge(judge, options.pricing, providers)
            for judge in (options.first, options.second)
        ]
        first, second = [await _judge(judge, samples) for judge in judges]
    finally:
        await providers.close()
    return [
        Twice(sample=sample, first=one, second=two)
        for sample, one, two in zip(samples, first, second, strict=True)
    ]


async def _judge(judge: Judge, samples: Sequence[Sample]) -> list[Verdict]:
    try:
        async with asyncio.TaskGroup() as tasks:
            pending = [
                tasks.create_task(judge.judge(sample.task, sample.given, turn=0))
                for sample in samples
            ]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    finally:
        await judge.close()
    return [task.result().verdict for task in pending]
