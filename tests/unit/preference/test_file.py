"""A table on disk reads back equal, and a bad line is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolorchestra.codec import to_json
from toolorchestra.preference.config import PreferenceConfig, TableConfig
from toolorchestra.preference.file import check_table, read_pairs, to_lines
from toolorchestra.preference.table import Pair
from toolorchestra.types import Preference


def pair(instruction: str, **changes: Any) -> Pair:
    fields: dict[str, Any] = {"kind": "like", "outcome": 1.0, "cost": 0.25, "latency": 0.0}
    fields |= {"tools": {"gpt_5": 1.0}} | changes
    return Pair(split="train", preference=Preference(instruction=instruction, **fields))


def test_what_was_written_reads_back_equal(tmp_path: Path) -> None:
    pairs = (pair("Nimm gpt_5, bitte schön."), pair("Be quick.", kind="latency", tools={}))
    path = tmp_path / "pairs.jsonl"
    path.write_text(to_lines(pairs), encoding="utf-8")
    assert read_pairs(path) == read_pairs(path, ["gpt_5"]) == pairs


def line(**changes: Any) -> str:
    value = to_json(pair("Second."))
    value["preference"] |= changes
    return json.dumps(value)


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ("I would say: be cheap.", "Expecting value"),
        ('{"split": "train", "preference": {', "Expecting"),
        ('{"instruction": "Be cheap."}', "key 'split' is missing"),
        (line(cost=1.5), "preference.cost: 1.5 is not allowed"),
        (line(cost="high"), "pair.preference.cost: expected a finite number; got 'high'"),
        (line(instruction="FIRST"), "'FIRST' is there already, at "),
        (line(tools={"gpt_9": 1}), "'gpt_9' is not allowed, as it is not offered"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, second: str, reason: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(to_lines([pair("First.")]) + second + "\n")
    with pytest.raises(ValueError) as caught:
        read_pairs(path, ["gpt_5"])
    assert str(caught.value).startswith(f"preference.table.file: {path}:2: ")
    assert reason in str(caught.value)


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"])
def test_a_file_that_is_absent_empty_or_no_text_is_refused(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "pairs.jsonl"
    if content is not None:
        path.write_bytes(content)
    config = PreferenceConfig(name="x", kinds={"like": 1}, table=TableConfig(file=str(path)))
    with pytest.raises(ValueError, match=r"^preference\.table\.file: .*use a"):
        check_table(config, ["gpt_5"])
    config.kinds = {"frugal": 1}  # nothing is drawn from it
    check_table(config, ["gpt_5"])
