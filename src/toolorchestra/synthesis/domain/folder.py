"""The files of a domain's folder, as texts by their names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolorchestra.domain.task import DomainTask
from toolorchestra.synthesis.domain.entries import Records
from toolorchestra.synthesis.domain.workshop import to_lines


def files_of(
    schema: Mapping[str, Any],
    records: Records,
    *,
    policy: str,
    functions: str,
    tasks: Iterable[DomainTask] | None = None,
) -> dict[str, str]:
    """The files; no `tasks.jsonl` while there are no tasks yet."""
    lines = [
        {"collection": name, "record": one}
        for name, known in records.items()
        for one in known.values()
    ]
    files = {
        "schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
        "database.jsonl": to_lines(lines),
        "policy.md": policy.strip() + "\n",
        "functions.py": functions,
    }
    return files if tasks is None else {**files, "tasks.jsonl": to_lines(tasks)}
