"""Fills the shipped domains from a fixed seed: `python -m toolorchestra.domain.fill library`.

What it writes lies beside the code, so that a domain is a plain folder to whoever reads it.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolorchestra.codec import to_json
from toolorchestra.domain.load import SHIPPED, load_package


def _write(path: Path, lines: Iterable[Any]) -> None:
    texts = (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text("".join(texts), encoding="utf-8")


def fill(name: str, folder: Path | None = None) -> None:
    """Write the records and the tasks of a shipped domain.

    Args:
        name: The domain.
        folder: Where to write `database.jsonl` and `tasks.jsonl`; beside the code where None.
    """
    package = f"toolorchestra.domain.{name}"
    home = Path(next(iter(importlib.import_module(package).__path__)))
    records = importlib.import_module(f"{package}.records").make_records(_generator(name))
    target = folder or home
    _write(target / "database.jsonl", ({"collection": c, "record": r} for c, r in records))
    # Tasks are made of the records that lie beside the code: these are the same ones.
    domain = load_package(package, has_tasks=False)
    tasks = importlib.import_module(f"{package}.tasks").make_tasks(domain, _generator(name))
    _write(target / "tasks.jsonl", map(to_json, tasks))


def _generator(name: str) -> random.Random:
    return random.Random(f"toolorchestra {name}")  # of a text, so the same in every process


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SHIPPED:
        fill(chosen)
