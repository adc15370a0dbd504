"""Small tables of questions on disk, in every form that is read."""

from __future__ import annotations

import datasets

from toolorchestra.dataset.config import DatasetConfig, TableConfig


def rows(count, start=0):
    """Questions with numbers for answers."""
    return [
        {"question": f"What is {i} + 1?", "reference_answer": str(i + 1), "prev_messages": None}
        for i in range(start, start + count)
    ]


def parquet(path, records):
    datasets.Dataset.from_list(records).to_parquet(str(path))
    return str(path)


def config(path, *, name="t", **changes):
    fields = {"path": str(path), "answer": "reference_answer", "empty": ["prev_messages"]}
    table = TableConfig(**(fields | changes))
    return DatasetConfig(name=name, kind="table", table=table)
