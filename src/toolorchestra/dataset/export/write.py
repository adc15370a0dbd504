"""Writes a domain's tasks to a folder, in one of the forms, with a card."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import metadata
from pathlib import Path

from toolorchestra.dataset.domains import split_goals
from toolorchestra.dataset.export.card import card
from toolorchestra.dataset.export.config import ExportConfig
from toolorchestra.dataset.export.openai import conversation
from toolorchestra.dataset.export.tau2 import tau2_task
from toolorchestra.dataset.split import Split
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.load import SHIPPED, load_package, load_shipped
from toolorchestra.domain.task import DomainTask
from toolorchestra.domain.untrusted.load import load_untrusted

CARD = "README.md"


def export(config: ExportConfig) -> list[Path]:
    """Writes all files, the card last.

    Returns:
        The files.

    Raises:
        ValueError: The domain cannot be loaded, the form has no place for one of its tasks, or the
            folder cannot be written to.
    """
    domain = _load(config.domain)
    splits = split_goals(domain)
    if config.form == "openai":
        splits = {name: [t for t in found if not t.needs_user] for name, found in splits.items()}
    texts = dict(_FORMS[config.form](domain, splits))
    is_ours = config.domain in SHIPPED
    licence = metadata("toolorchestra")["License-Expression"] if is_ours else "other"
    texts[CARD] = card(domain, splits, form=config.form, licence=licence)
    return [_write(Path(config.out) / name, text) for name, text in texts.items()]


def _load(domain: str) -> Domain:
    if domain in SHIPPED:
        return load_shipped(domain)
    return load_untrusted(Path(domain)) if os.sep in domain else load_package(domain)


def _openai(domain: Domain, splits: Mapping[Split, Sequence[DomainTask]]) -> dict[str, str]:
    return {
        f"{split}.jsonl": "".join(
            json.dumps(conversation(domain, task), ensure_ascii=False) + "\n" for task in tasks
        )
        for split, tasks in splits.items()
    }


def _tau2(domain: Domain, splits: Mapping[Split, Sequence[DomainTask]]) -> dict[str, str]:
    tasks = [tau2_task(domain, task) for task in domain.tasks.values()]
    ids = {split: [task.id for task in found] for split, found in splits.items()}
    return {"tasks.json": _pretty(tasks), "split_tasks.json": _pretty(ids)}


_FORMS = {"openai": _openai, "tau2": _tau2}


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _write(path: Path, text: str) -> Path:
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise ValueError(
            f"out: {path} cannot be written ({error.strerror}); choose a folder that can be written"
        ) from error
    finally:
        if beside.parent.is_dir():
            beside.unlink(missing_ok=True)
    return path
