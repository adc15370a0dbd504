"""Which rows of a table of questions can be trained on: their answers can be checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from toolorchestra.dataset.answer_form import AnswerForm, form_of
from toolorchestra.dataset.split import long_digest, side_of

if TYPE_CHECKING:
    import datasets

_BATCH_ROWS = 1000
EMPTY = "empty."
"""Begins the names of columns that have to be empty."""

NO_QUESTION = "without a question"
NO_ANSWER = "without an answer"
GOES_ON = "that go on from something"
UNCHECKABLE = "whose answer no matcher can check"
REPEATED = "whose question came before"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scan:
    """What one pass over a table leaves; the arrays have one entry a row that is kept."""

    rows: npt.NDArray[np.int64]
    digests: npt.NDArray[np.uint64]
    """Of the questions."""
    is_heldout: npt.NDArray[np.bool_]
    left_out: Mapping[str, int]
    """How many rows were not kept, by reason."""


def scan_table(table: datasets.Dataset, *, takes_free_text: bool, num_parts: int) -> Scan:
    """Reads a table through once.

    Args:
        table: Has the columns question and answer; others, whose names begin with `EMPTY`, have to
            be empty.
        takes_free_text: Whether to keep answers that only a judge can check.
        num_parts: One part of so many is held out.
    """
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
    return Scan(
        rows=rows, digests=digests[rows], is_heldout=is_heldout[rows], left_out=dict(+left_out)
    )


def _fault(row: Mapping[str, Any], *, takes_free_text: bool) -> str | None:
    """Why a row is left out; None where it is kept."""
    question, answer = row["question"], row["answer"]
    if not question or not question.strip():
        return NO_QUESTION
    if not answer or not answer.strip():
        return NO_ANSWER
    others = (value for key, value in row.items() if key.startswith(EMPTY))
    if any(value and value != "[]" for value in others):
        return GOES_ON
    form = checkable(question.strip(), answer, takes_free_text=takes_free_text)
    return None if form else UNCHECKABLE


def checkable(question: str, answer: str, *, takes_free_text: bool) -> AnswerForm | None:
    """How an answer is checked; None where nothing can do it."""
    form = form_of(question, answer)
    if form is None and takes_free_text:
        return AnswerForm(kind="text", answer=answer.strip())
    return form
