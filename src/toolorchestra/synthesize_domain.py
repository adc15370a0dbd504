"""From options to a domain with tasks: `synthesize.py domain=NAME`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf

from toolorchestra.codec import to_json
from toolorchestra.domain.untrusted.limits import LIMITS
from toolorchestra.domain.untrusted.load import load_untrusted
from toolorchestra.report.files import replace_text
from toolorchestra.report.table import Table
from toolorchestra.sandbox.find import find_launch
from toolorchestra.synthesis.commands import DomainConfig
from toolorchestra.synthesis.domain.card import card
from toolorchestra.synthesis.domain.pipeline import Made, make
from toolorchestra.synthesis.domain.workshop import Asker, Journal, Workshop
from toolorchestra.synthesis.kept import KeptReplies
from toolorchestra.synthesis.kept_models import KeptModels

log = logging.getLogger(__name__)

_OPTIONS = "options.json"


def write_domain(config: DictConfig) -> Path:
    """Writes a domain, what each stage took and rejected, and a table of both; returns its folder.

    Raises:
        ValueError: The options do not go together, nobody serves a model, there is no sandbox, some
            requests got no reply, or a stage left too little; what was answered is kept and not
            asked for again.
    """
    # a line for each request would drown what the stages say
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    options = cast(DomainConfig, OmegaConf.to_object(config))
    out = Path(options.out)
    settled = _settled(options)
    _check_out(out, settled)
    return asyncio.run(_write(options, out, settled))


def _settled(options: DomainConfig) -> dict[str, Any]:
    """What the requests depend on; the rest may change from run to run."""
    counts = _plain(options.counts)
    del counts["min_functions"]
    return {
        "domain": options.domain,
        "subject": options.subject,
        "writer": _plain(options.writer),
        "validator": _plain(options.validator),
        "solver": _plain(options.solver),
        "counts": counts,
        "pricing": options.pricing.draw[0],
    }


def _plain(options: Any) -> Any:
    return json.loads(json.dumps(to_json(options)))


def _check_out(out: Path, settled: dict[str, Any]) -> None:
    path = out / _OPTIONS
    if not path.exists():
        if out.exists() and any(out.iterdir()):
            raise ValueError(f"out: {out} is not allowed, as it holds other things; use another")
        return
    there = json.loads(path.read_text(encoding="utf-8"))
    for key, value in settled.items():
        if there.get(key) != value:
            raise ValueError(
                f"out: {out} is not allowed, as it was begun with another {key} "
                f"({json.dumps(there.get(key))}); use that one, or another folder"
            )


async def _write(options: DomainConfig, out: Path, settled: dict[str, Any]) -> Path:
    replies = KeptReplies(out / "replies.jsonl")
    models = KeptModels(options.provider, options.pricing, replies)
    try:
        shop = _workshop(options, out, models)
        find_launch(LIMITS, runs="the functions of domains")  # before anything is paid for
        replace_text(out / _OPTIONS, json.dumps(settled, indent=1) + "\n")
        num_before = replies.num_kept
        made = await make(shop)
    finally:
        await models.close()
    folder = out / options.domain
    table = _shown(shop, made, replies)
    for name, text in made.files().items():
        replace_text(folder / name, text)
    await asyncio.to_thread(load_untrusted, folder)
    replace_text(out / "table.md", table)
    replace_text(folder / "README.md", card(shop, made, table))
    log.info("%s\n%d of the replies are from before.\n%s", table, num_before, folder)
    return folder


def _workshop(options: DomainConfig, out: Path, models: KeptModels) -> Workshop:
    deadline_s = options.provider.deadline_s

    def solver_at(attempt: int) -> Asker:
        model = models.model(options.solver.model, wanted_by="solver.model", attempt=attempt)
        return Asker(model=model, config=options.solver, deadline_s=deadline_s)

    solver_at(1)  # refuses a model that nobody serves
    return Workshop(
        name=options.domain,
        subject=options.subject,
        writer=Asker(
            model=models.model(options.writer.model, wanted_by="writer.model"),
            config=options.writer,
            deadline_s=deadline_s,
        ),
        validator=Asker(
            model=models.model(options.validator.model, wanted_by="validator.model"),
            config=options.validator,
            deadline_s=deadline_s,
        ),
        solver=options.solver,
        solver_at=solver_at,
        counts=options.counts,
        max_concurrent=options.max_concurrent,
        journal=Journal(lambda name, text: replace_text(out / name, text)),
    )


def _shown(shop: Workshop, made: Made, replies: KeptReplies) -> str:
    """What there is, as in the paper's Table 5, and what was rejected."""
    by_difficulty = sorted(Counter(task.difficulty for task in made.tasks).items())
    counts = Table(
        title=f"Domain {shop.name}",
        columns=(
            "tools",
            "records",
            "tasks",
            *(f"difficulty {level}" for level, _ in by_difficulty),
            "rejected",
            "replies",
            "dollars",
        ),
        rows=(
            (
                len(made.codes),
                made.num_records,
                len(made.tasks),
                *(count for _, count in by_difficulty),
                len(shop.journal.rejections),
                replies.num_kept,
                replies.cost_usd,
            ),
        ),
        digits={"dollars": 4},
    )
    kinds = Counter((one.stage, one.kind) for one in shop.journal.rejections)
    rejected = Table(
        title="Rejected",
        columns=("stage", "reason", "number"),
        rows=tuple((stage, kind, number) for (stage, kind), number in kinds.items()),
    )
    return f"{counts.to_markdown()}\n{rejected.to_markdown()}"
