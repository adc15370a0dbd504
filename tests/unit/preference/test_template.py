"""The shipped templates: every kind in both splits, nothing in both, vectors that hold."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys

import pytest
from tests.composed import options_of

from toolorchestra.preference.config import TABLE_KINDS, TableConfig
from toolorchestra.preference.file import to_lines
from toolorchestra.preference.table import SPLITS, coverage, named, normalised, tells_apart
from toolorchestra.preference.template import write_pairs
from toolorchestra.preference.traits import ToolTraits
from toolorchestra.preference.vector import check_vector
from toolorchestra.toolset.wishes import traits_of

TOOLSETS = ("basic", "local", "full", "unseen", "upstream")
ABSENT = {"basic": {"vendor"}, "upstream": {"privacy"}}
"""No model in one, no local tool on offer in the other."""


def tools_of(toolset: str) -> list[ToolTraits]:
    return traits_of(options_of(f"toolset={toolset}").toolset.on_offer)


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_every_kind_that_the_tools_allow_has_pairs_in_both_splits(toolset: str) -> None:
    pairs = write_pairs(tools_of(toolset), TableConfig())
    assert len(pairs) >= 200
    counts = coverage(pairs)
    assert set(counts) == set(TABLE_KINDS)
    for kind, by_split in counts.items():
        for split in SPLITS:
            if kind in ABSENT.get(toolset, ()):
                assert by_split[split] == 0
            else:
                assert by_split[split] >= 4, (kind, split)
    num_eval = sum(by_split["eval"] for by_split in counts.values())
    assert 0.15 <= num_eval / len(pairs) <= 0.35


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_no_instruction_comes_twice_whatever_its_case_punctuation_and_spaces(
    toolset: str,
) -> None:
    words = [
        normalised(p.preference.instruction) for p in write_pairs(tools_of(toolset), TableConfig())
    ]
    assert len(words) == len(set(words))


def test_evaluation_has_other_sentences_not_the_same_ones_about_other_tools() -> None:
    tools = tools_of("local")
    names = sorted({tool.name for tool in tools} | {tool.family for tool in tools} - {""}, key=len)
    pattern = re.compile("|".join(re.escape(name) for name in reversed(names)))
    sides = {split: set() for split in SPLITS}
    for pair in write_pairs(tools, TableConfig(num_pairs=2000)):
        sides[pair.split].add(pattern.sub("X", pair.preference.instruction))
    assert sides["train"] and sides["eval"]
    assert sides["train"].isdisjoint(sides["eval"])


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_every_vector_is_valid_for_the_tools_and_tells_some_of_them_apart(toolset: str) -> None:
    names = [tool.name for tool in tools_of(toolset)]
    for pair in write_pairs(tools_of(toolset), TableConfig()):
        check_vector(pair.preference, names)
        assert tells_apart(pair.preference, names)
        assert pair.preference.outcome == 1


def pairs_of(kind: str, toolset: str = "local"):
    pairs = write_pairs(tools_of(toolset), TableConfig())
    return [pair.preference for pair in pairs if pair.preference.kind == kind]


def test_a_liked_tool_alone_has_weight_and_a_disliked_one_has_none() -> None:
    names = [tool.name for tool in tools_of("local")]
    for wish in pairs_of("like"):
        assert named(names, wish.instruction) == list(wish.tools)
    for wish in pairs_of("dislike"):
        (name,) = named(names, wish.instruction)
        assert name not in wish.tools and min(wish.tools.values()) > 0


def test_every_tool_is_liked_and_disliked_in_training() -> None:
    pairs = write_pairs(tools_of("full"), TableConfig())
    for kind in ("like", "dislike"):
        wishes = [p.preference for p in pairs if p.split == "train" and p.preference.kind == kind]
        for tool in tools_of("full"):
            assert any(named([tool.name], wish.instruction) for wish in wishes)


def test_privacy_weighs_what_stays_on_the_users_machines_and_nothing_else() -> None:
    for wish in pairs_of("privacy"):
        assert set(wish.tools) == {"code_interpreter", "local_search", "track_parcel"}


def test_a_vendor_is_weighed_where_it_is_liked_and_not_where_it_is_disliked() -> None:
    gpt = {"gpt_5", "gpt_5_mini"}
    wishes = [wish for wish in pairs_of("vendor") if "GPT" in wish.instruction]
    liked = [wish for wish in wishes if set(wish.tools) == gpt]
    disliked = [wish for wish in wishes if gpt.isdisjoint(wish.tools)]
    assert liked and disliked and len(liked) + len(disliked) == len(wishes)


def test_a_combination_holds_two_wishes_and_weighs_nothing_that_one_of_them_rules_out() -> None:
    combined = pairs_of("combination")
    assert any(wish.cost == 1 and wish.tools for wish in combined)
    assert any(wish.latency == 1 and wish.tools for wish in combined)
    ruled_out = re.compile(r"(?:Do not use|Leave|Steer clear of|way around) ([a-z0-9_]+)")
    avoided = [(wish, name) for wish in combined for name in ruled_out.findall(wish.instruction)]
    assert len(avoided) >= 3
    assert all(name not in wish.tools for wish, name in avoided)


def test_the_order_of_the_tools_does_not_matter_and_the_seed_does() -> None:
    tools, config = tools_of("local"), TableConfig()
    assert write_pairs(tools, config) == write_pairs(tools[::-1], config)
    assert write_pairs(tools, config) != write_pairs(tools, TableConfig(seed=2))


def test_every_process_writes_the_same_table() -> None:
    code = (
        "from toolorchestra.preference.config import TableConfig as C\n"
        "from toolorchestra.preference.template import write_pairs\n"
        "from toolorchestra.preference.file import to_lines\n"
        "from toolorchestra.preference.traits import ToolTraits as T\n"
        "import hashlib\n"
        "tools = [T(name=n, job='answer', family=n, is_local=n == 'aaa') "
        "for n in ('aaa', 'bbb', 'ccc')]\n"
        "print(hashlib.sha256(to_lines(write_pairs(tools, C())).encode()).hexdigest())\n"
    )
    tools = [
        ToolTraits(name=name, job="answer", family=name, is_local=name == "aaa")
        for name in ("aaa", "bbb", "ccc")
    ]
    own = hashlib.sha256(to_lines(write_pairs(tools, TableConfig())).encode()).hexdigest()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == own


def test_one_tool_leaves_wishes_that_are_not_about_tools() -> None:
    tools = [ToolTraits(name="only", job="answer", family="", is_local=True)]
    pairs = write_pairs(tools, TableConfig())
    assert pairs and all(not pair.preference.tools for pair in pairs)
    assert {pair.preference.kind for pair in pairs} == {"cost", "latency", "combination"}
