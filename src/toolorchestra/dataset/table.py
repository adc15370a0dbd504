"""Tasks from a table of questions and reference answers, such as GeneralThought-430K.

The table stays on disk. What is kept of a row is its number, where its answer can be checked.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from toolorchestra.dataset.answer_form import AnswerForm, form_of
from toolorchestra.dataset.config import TableConfig
from toolorchestra.dataset.split import SPLITS, Split, digest, long_digest, side_of
from toolorchestra.dataset.table_load import check_columns, commit_of, load_table
from toolorchestra.types import Task

if TYPE_CHECKING:
    import datasets

log = logging.getLogger(__name__)

_BATCH_ROWS = 1000
_EMPTY = "empty."
"""Begins the names of columns that have to be empty."""
_TEXTS = ("string", "large_string", "string_view", "null")

NO_QUESTION = "without a question"
NO_ANSWER = "without an answer"
GOES_ON = "that go on from something"
UNCHECKABLE = "whose answer no matcher can check"
REPEATED = "whose question came before"


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

    def __call__(self, index: int, split: Split) -> Task:
        """Task number `index` of a split: each comes once before the first comes again."""
        rows = self.rows[split]
        row = self.table[int(rows[index % len(rows)])]
        question = row["question"].strip()
        form = _checkable(question, row["answer"], takes_free_text=self.takes_free_text)
        assert form is not None, "rows are kept only where their answer can be checked"
        return Task(
            id=_id(self.name, long_digest(question)),
            skill=self.skill,
            question=question,
            answer=form.answer,
            answer_kind=form.kind,
            metadata={"options": list(form.options)} if form.options else {},
        )


def table_tasks(
    name: str, config: TableConfig, *, seed: int, takes_free_text: bool, num_parts: int
) -> TableTasks:
    """Reads a table through once, and keeps the numbers of the rows whose answers can be checked.

    Args:
        name: What the tasks' ids begin with.
        config: The table and its columns.
        seed: Of the order.
        takes_free_text: Whether to keep answers that only a judge can check, as "text".
        num_parts: One part of so many is held out.

    Raises:
        ValueError: The table cannot be loaded, lacks a column, holds no text in one, or leaves one
            of the two splits empty.
    """
    whole = load_table(
        config.path, split=config.split, subset=config.subset, revision=config.revision
    )
    table = _narrowed(whole, config)
    try:
        scan = _scan(table, takes_free_text=takes_free_text, num_parts=num_parts)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{config.path}: cannot be read ({error.reason}: it is not UTF-8 text); mend the files "
            "or write them again"
        ) from error
    parts = _parts(name, scan, seed=seed)
    _tell(name, config, parts, scan, commit=commit_of(whole, path=config.path))
    for split in SPLITS:
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
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scan:
    """What one pass over a table leaves; the arrays have one entry a row that is kept."""

    rows: npt.NDArray[np.int64]
    digests: npt.NDArray[np.uint64]
    """Of the questions."""
    is_heldout: npt.NDArray[np.bool_]
    left_out: Counter[str]


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
    names |= {column: f"{_EMPTY}{i}" for i, column in enumerate(extra)}
    return table.rename_columns(names)


def _scan(table: datasets.Dataset, *, takes_free_text: bool, num_parts: int) -> _Scan:
    left_out: Counter[str] = Counter()
    is_kept, is_heldout = np.zeros(len(table), bool), np.zeros(len(table), bool)
    digests = np.zeros(len(table), np.uint64)
    number = 0
    for batch in table.with_format("arrow").iter(batch_size=_BATCH_ROWS):
        for row in batch.to_pylist():
            if reason := _fault(row, takes_free_text=takes_free_text):
                left_out[reason] += 1
            else:
                question = row["question"].strip()
                is_kept[number] = True
                digests[number] = long_digest(question)
                is_heldout[number] = side_of(question, num_parts=num_parts) == "heldout"
            number += 1
    rows = np.flatnonzero(is_kept)
    _, first = np.unique(digests[rows], return_index=True)
    left_out[REPEATED] = len(rows) - len(first)
    rows = rows[np.sort(first)]
    return _Scan(rows=rows, digests=digests[rows], is_heldout=is_heldout[rows], left_out=+left_out)


def _fault(row: Mapping[str, Any], *, takes_free_text: bool) -> str | None:
    """Why a row is left out; None where it is kept."""
    question, answer = row["question"], row["answer"]
    if not question or not question.strip():
        return NO_QUESTION
    if not answer or not answer.strip():
        return NO_ANSWER
    others = (value for key, value in row.items() if key.startswith(_EMPTY))
    if any(value and value != "[]" for value in others):
        return GOES_ON
    form = _checkable(question.strip(), answer, takes_free_text=takes_free_text)
    return None if form else UNCHECKABLE


def _checkable(question: str, answer: str, *, takes_free_text: bool) -> AnswerForm | None:
    form = form_of(question, answer)
    if form is None and takes_free_text:
        return AnswerForm(kind="text", answer=answer.strip())
    return form


def _parts(name: str, scan: _Scan, *, seed: int) -> dict[Split, npt.NDArray[np.int64]]:
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
    scan: _Scan,
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
