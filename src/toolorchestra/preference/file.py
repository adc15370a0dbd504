"""A table of pairs on disk: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from toolorchestra.codec import from_json, to_json
from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.preference.table import Admission, Pair


def to_lines(pairs: Iterable[Pair]) -> str:
    """The text of a file of pairs."""
    lines = (json.dumps(to_json(pair), ensure_ascii=False) for pair in pairs)
    return "".join(f"{line}\n" for line in lines)


def read_pairs(path: Path, tools: Collection[str] | None = None) -> tuple[Pair, ...]:
    """The pairs of a file.

    Args:
        path: A file that `to_lines` made the text of.
        tools: The tools that a vector may weigh; None: any.

    Raises:
        ValueError: It cannot be read, or a line is no pair, weighs a tool that is not there, or has
            the instruction of another line; with the line's number.
    """
    try:
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        if lines == [""]:
            raise ValueError("it is empty")
    except (OSError, ValueError) as error:
        raise ValueError(
            f"preference.table.file: {path} cannot be read ({error}); use a file of "
            "`synthesize.py preferences`, or none"
        ) from error
    pairs = []
    admission = None if tools is None else Admission(tools)
    for number, line in enumerate(lines, start=1):
        place = f"{path}:{number}"
        try:
            pair = from_json(Pair, json.loads(line), "pair")
            judge = admission or Admission(pair.preference.tools)
            judge.admit(pair.preference, place)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"preference.table.file: {place}: {error}") from error
        pairs.append(pair)
    return tuple(pairs)


def check_table(config: PreferenceConfig, tools: Collection[str]) -> None:
    """Checks a file of pairs, where one is drawn from, against the names of the toolset's tools.

    Raises:
        ValueError: See `read_pairs`.
    """
    if config.uses_table and config.table.file:
        read_pairs(Path(config.table.file), tools)
