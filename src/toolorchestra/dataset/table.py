"""Tasks from a table of questions and reference answers, such as GeneralThought-430K.

The table stays on disk. What is kept of a row is its number, where its answer can be checked.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from toolorchestra.dataset.config import TableConfig
from toolorchestra.dataset.scan_cache import kept_scan
from toolorchestra.dataset.split import SPLITS, Split, digest, long_digest
from toolorchestra.dataset.table_load import check_columns, commit_of, load_table
from toolorchestra.dataset.table_scan import EMPTY, Scan, checkable
from toolorchestra.types import Json, Task

if TYPE_CHECKING:
    import datasets

log = logging.getLogger(__name__)

_TEXTS = ("string", "large_string", "string_view", "null")


@dataclass(frozen=True, kw_only=True, slots=True)
class TableTasks:
    """The tasks of a table, each in one split, by its question alone."""

    name: str
    skill: str
    table: datasets.Dataset
    """Question and answer of every row, in columns of these names."""
    rows: Mapping[Split, npt.NDArray[np.int64]]
    """Numbers of the rows that are kept, in the order in which they are drawn."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many rows were not kept, by reason."""
    takes_free_text: bool = False
    answer_form: str = ""

    def __call__(self, index: int, split: Split) -> Task:
        """Task number `index` of a split: each comes once before the first comes again."""
        rows = self.rows[split]
        row = self.table[int(rows[index % len(rows)])]
        question = row["question"].strip()
        form = checkable(question, row["answer"], takes_free_text=self.takes_free_text)
        assert form is not None, "rows are kept only where their answer can be checked"
        metadata: Json = {"options": list(form.options)} if form.options else {}
        if self.answer_form:
            metadata["answer_form"] = self.answer_form
        return Task(
            id=_id(self.name, long_digest(question)),
            skill=self.skill,
            question=question,
            answer=form.answer,
            answer_kind=form.kind,
            metadata=metadata,
        )


def table_tasks(
    name: str, config: TableConfig, *, seed: int, takes_free_text: bool, num_parts: int
) -> TableTasks:
    """Keeps the numbers of the rows whose answers can be checked; see `kept_scan`.

    Args:
        name: What the tasks' ids begin with.
        config: The table and its columns.
        seed: Of the order.
        takes_free_text: Whether to keep answers that only a judge can check, as "text".
        num_parts: One part of so many is held out; 1: all of it.

    Raises:
        ValueError: The table cannot be loaded, lacks a column, holds no text in one, or leaves one
            of the two splits empty.
    """
    whole = load_table(
        config.path, split=config.split, subset=config.subset, revision=config.revision
    )
    table = _narrowed(whole, config)
    try:
        scan = kept_scan(table, takes_free_text=takes_free_text, num_parts=num_parts)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{config.path}: cannot be read ({error.reason}: it is not UTF-8 text); mend the files "
            "or write them again"
        ) from error
    parts = _parts(name, scan, seed=seed)
    _tell(name, config, parts, scan, commit=commit_of(whole, path=config.path))
    for split in ("heldout",) if num_parts == 1 else SPLITS:
        if not len(parts[split]):
            raise ValueError(
                f"dataset.table.path: {config.path} leaves no task for the split {split} "
                f"({_told(scan.left_out)}); use a table with more rows that can be checked"
            )
    return TableTasks(
        name=name,
        skill=config.skill,
        table=table.select_columns(["question", "answer"]),
        rows=parts,
        left_out=dict(scan.left_out),
        takes_free_text=takes_free_text,
        answer_form=config.answer_form.strip(),
    )


def _narrowed(whole: datasets.Dataset, config: TableConfig) -> datasets.Dataset:
    """Question and answer under these names, and the columns that have to be empty."""
    columns = [config.question, config.answer]
    check_columns(whole, [*columns, *config.empty], path=config.path)
    for column in columns:
        dtype = getattr(whole.features[column], "dtype", "a nested value")
        if dtype not in _TEXTS:
            raise ValueError(
                f"{config.path}: the column {column} holds {dtype} and not text; "
                "name another column, or write it as text"
            )
    extra = [column for column in config.empty if column not in columns]
    table = whole.select_columns([*columns, *extra])
    names = {config.question: "question", config.answer: "answer"}
    names |= {column: f"{EMPTY}{i}" for i, column in enumerate(extra)}
    return table.rename_columns(names)


def _parts(name: str, scan: Scan, *, seed: int) -> dict[Split, npt.NDArray[np.int64]]:
    """The rows of each split, in the order that the seed gives."""
    keys = [digest(f"{seed}/{_id(name, int(number))}") for number in scan.digests]
    by_seed = np.argsort(np.array(keys, np.uint64), kind="stable")
    rows, is_heldout = scan.rows[by_seed], scan.is_heldout[by_seed]
    return {"train": rows[~is_heldout], "heldout": rows[is_heldout]}


def _id(name: str, question_digest: int) -> str:
    """Depends on no row number: the same question has it in every version of a table."""
    return f"{name}-{question_digest:016x}"


def _tell(
    name: str,
    config: TableConfig,
    parts: Mapping[Split, npt.NDArray[np.int64]],
    scan: Scan,
    *,
    commit: str | None,
) -> None:
    log.info(
        "dataset %s: %s%s gives %s tasks to train on and %s held out; left out are %s",
        name,
        config.path,
        f" at {commit}" if commit else "",
        f"{len(parts['train']):,}",
        f"{len(parts['heldout']):,}",
        _told(scan.left_out),
    )


def _told(left_out: Mapping[str, int]) -> str:
    reasons = [f"{count:,} {reason}" for reason, count in sorted(left_out.items())]
    return ", ".join(reasons) or "none"
