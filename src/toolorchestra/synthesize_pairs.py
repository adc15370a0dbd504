"""From options to a table of preference pairs: `synthesize.py preferences`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from pathlib import Path
from random import Random
from typing import cast

from omegaconf import DictConfig, OmegaConf

from toolorchestra.codec import to_json
from toolorchestra.preference.file import to_lines
from toolorchestra.preference.table import SPLITS, coverage, normalised
from toolorchestra.preference.template import write_pairs
from toolorchestra.pricing.draw import draw_prices
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.report.files import replace_text
from toolorchestra.report.table import Table as Shown
from toolorchestra.synthesis.commands import PreferencesConfig
from toolorchestra.synthesis.kept import KeptReplies
from toolorchestra.synthesis.kept_models import KeptModels
from toolorchestra.synthesis.pair_request import account_of, kinds_for
from toolorchestra.synthesis.propose import Asking, Table, propose
from toolorchestra.toolset.offer import offer
from toolorchestra.toolset.wishes import traits_of
from toolorchestra.types import OfferedTool

log = logging.getLogger(__name__)

_TYPICAL_QUESTION = "x" * 400
"""Stands in for a task, as the cost of a call depends on what it passes on."""


def write_preferences(config: DictConfig) -> Path:
    """Writes pairs, rejections and a table of both; returns the file of pairs.

    Raises:
        ValueError: The options do not go together, nobody serves a model, or some requests got no
            reply; what was answered is kept and not asked for again.
    """
    options = cast(PreferencesConfig, OmegaConf.to_object(config))
    folder, note = Path(options.out), ""
    if options.source == "templates":
        pairs = write_pairs(traits_of(options.toolset.on_offer), options.table)
        table = Table(pairs=pairs, rejections=())
    else:
        replies = KeptReplies(folder / "replies.jsonl")
        num_before = replies.num_kept
        table = asyncio.run(_ask(options, replies))
        note = (
            f"{replies.num_kept} replies for ${replies.cost_usd:.4f} in all, {num_before} of them "
            "from before."
        )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pairs.jsonl"
    replace_text(path, to_lines(table.pairs))
    lines = [json.dumps(to_json(item), ensure_ascii=False) for item in table.rejections]
    replace_text(folder / "rejections.jsonl", "".join(f"{line}\n" for line in lines))
    text = _shown(table, note).to_markdown()
    replace_text(folder / "coverage.md", text)
    for item in table.rejections:
        log.info("rejected %s: %s", item.place, item.reason)
    log.info("%s\n%s", text, path)
    return path


def _shown(table: Table, note: str) -> Shown:
    """Pairs by kind and split, what was rejected, and whether a side saw words of the other."""
    rejected = Counter(item.kind for item in table.rejections)
    rows = [
        (kind, counts["train"], counts["eval"], rejected[kind])
        for kind, counts in coverage(table.pairs).items()
    ]
    sums = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    train, evaluation = (
        {normalised(p.preference.instruction) for p in table.pairs if p.split == split}
        for split in SPLITS
    )
    shared = f"{len(train & evaluation)} of {len(evaluation)} instructions for evaluation are also "
    return Shown(
        title="Preference pairs",
        columns=("kind", "train", "eval", "rejected"),
        rows=(*rows, ("all", *sums)),
        note=" ".join([f"{shared}in training.", note]).strip(),
    )


async def _ask(options: PreferencesConfig, replies: KeptReplies) -> Table:
    offered = _offered(options)
    tools = traits_of({tool.name: options.toolset.tools[tool.name] for tool in offered})
    models = KeptModels(options.provider, options.pricing, replies)
    try:
        return await propose(
            Asking(
                proposer=models.model(options.proposer.model, wanted_by="proposer.model"),
                validator=models.model(options.validator.model, wanted_by="validator.model"),
                proposer_config=options.proposer,
                validator_config=options.validator,
                account=account_of(offered, tools),
                tools=tuple(tool.name for tool in offered),
                kinds=tuple(kinds_for(tools)),
                num_batches=options.num_batches,
                batch_size=options.batch_size,
                eval_parts=options.eval_parts,
                max_concurrent=options.max_concurrent,
                deadline_s=options.provider.deadline_s,
            )
        )
    finally:
        await models.close()


def _offered(options: PreferencesConfig) -> list[OfferedTool]:
    """The tools under the first schedule of the pricing; one without a price is left out."""
    tools = options.toolset.on_offer
    prices = draw_prices(
        build_price_book(options.pricing),
        schedules=options.pricing.draw[:1],
        jitter=1.0,
        models={name: tool.charged_as for name, tool in tools.items()},
        policy=options.proposer.model,
        rng=Random(0),
    ).tools
    return [
        offer(name, tools[name], question=_TYPICAL_QUESTION, price=price, is_simulated=False)
        for name, price in prices.items()
    ]
