"""What a table admits, and which of its pairs fit an episode."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.preference.table import (
    Admission,
    Pair,
    PairTable,
    coverage,
    named,
    normalised,
)
from toolorchestra.preference.traits import ToolTraits
from toolorchestra.types import Preference

TOOLS = ["gpt_5", "web_search", "qwen3_32b"]


def wish(instruction: str = "Take gpt_5.", **changes: Any) -> Preference:
    fields: dict[str, Any] = {"kind": "like", "outcome": 1.0, "cost": 0.25, "latency": 0.0}
    return Preference(instruction=instruction, **(fields | changes))


def traits(name: str, family: str = "") -> ToolTraits:
    return ToolTraits(name=name, job="answer", family=family, is_local=False)


def fitting(preference: Preference, offered: list[str]) -> list[Preference]:
    tools = [traits("gpt_5", "GPT"), traits("qwen3_32b", "Qwen"), traits("web_search")]
    table = PairTable([Pair(split="train", preference=preference)], tools)
    assert not table.fitting("eval", offered)
    return table.fitting("train", offered).get(preference.kind, [])


@pytest.mark.parametrize(
    ("preference", "reason"),
    [
        (wish(kind="frugal"), "kind: 'frugal' is not allowed; use cost, latency"),
        (wish(" ... "), "instruction: ' ... ' has no words"),
        (wish("Take gpt_5.\nNow."), "cannot stand in one line of text"),
        (wish("Take \ud800 gpt_5."), "cannot stand in one line of text"),
        (wish(cost=1.5), "preference.cost: 1.5 is not allowed; use a number from 0 to 1"),
        (wish(tools={"gpt_5": -1.0}), "preference.tools.gpt_5: -1.0 is not allowed"),
        (wish(tools={"gpt_9": 1.0}), "'gpt_9' is not allowed, as it is not offered"),
        (wish(outcome=0.0, cost=0.0, tools={"gpt_5": 0.0}), "every weight is 0"),
        (wish("take  GPT5"), "'take  GPT5' is there already, at line 1"),
    ],
)
def test_a_bad_pair_is_refused_with_its_reason(preference: Preference, reason: str) -> None:
    admission = Admission(TOOLS)
    admission.admit(wish(), "line 1")
    with pytest.raises(ValueError) as caught:
        admission.admit(preference, "line 2")
    assert reason in str(caught.value)
    admission.admit(wish("Take web_search."), "line 3")  # the rest goes on


def test_a_pair_that_was_refused_may_come_again_in_a_good_form() -> None:
    admission = Admission(TOOLS)
    with pytest.raises(ValueError, match="cost"):
        admission.admit(wish(cost=2.0), "line 1")
    admission.admit(wish(), "line 2")


def test_case_punctuation_spaces_and_forms_of_letters_make_no_other_instruction() -> None:
    same = ("Keep it cheap.", "  keep IT  cheap!", "Keep-it-cheap", "\uff2beep it cheap")
    assert len({normalised(text) for text in same}) == 1
    assert normalised("Keep it cheaper.") != normalised(same[0])


def test_a_name_counts_only_as_a_word_of_its_own() -> None:
    assert named(["gpt_5", "gpt_5_mini", "GPT"], "Avoid gpt_5_mini.") == ["gpt_5_mini"]
    assert named(["gpt_5", "GPT"], "GPT's best is GPT_5!") == ["gpt_5", "GPT"]
    assert named(["GPT"], "Use GPT-5.") == []


def test_a_wish_needs_every_tool_that_it_names() -> None:
    disliked = wish("Avoid gpt_5.", tools={"qwen3_32b": 0.5})
    assert fitting(disliked, ["gpt_5", "qwen3_32b"])
    assert not fitting(disliked, ["web_search", "qwen3_32b"])


def test_a_wish_needs_a_model_of_every_family_that_it_names() -> None:
    banned = wish("No GPT models.", tools={"qwen3_32b": 0.5})
    assert fitting(banned, ["gpt_5", "qwen3_32b"])
    assert not fitting(banned, ["web_search", "qwen3_32b"])


def test_a_wish_about_tools_is_to_tell_offered_ones_apart() -> None:
    local = wish("Stay in house.", tools={"gpt_5": 0.5, "web_search": 0.5})
    assert not fitting(local, ["gpt_5", "web_search"])
    assert fitting(wish("Be cheap."), ["gpt_5"])  # not about tools
    (found,) = fitting(local, ["gpt_5", "qwen3_32b"])
    assert found.tools == {"gpt_5": 0.5}


def test_coverage_counts_every_kind_even_where_there_is_none() -> None:
    counts = coverage([Pair(split="eval", preference=wish())])
    assert counts["like"] == {"train": 0, "eval": 1}
    assert counts["privacy"] == {"train": 0, "eval": 0}
