"""Instructions and vectors mean the same, and those for evaluation are new."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolorchestra.preference.config import KINDS, PairConfig
from toolorchestra.preference.pairs import (
    VECTORS,
    WORDINGS,
    draw_preference,
    own_pairs,
)
from toolorchestra.preference.table import Pair, PairTable, Split
from toolorchestra.types import Preference

TOOLS = ["gpt_5", "web_search", "llama_3_1_8b"]
KEY_WORDS = {
    "balanced": "balance",
    "frugal": "cheap",
    "hurried": "fast",
    "thorough": "correct",
    "tool": "{tool}",
}


def words(texts: tuple[str, ...]) -> set[str]:
    return {word for text in texts for word in re.findall(r"\{?\w+\}?", text.casefold())}


def test_every_kind_has_wordings_and_a_vector() -> None:
    assert set(WORDINGS) == set(VECTORS) == set(KINDS)


@pytest.mark.parametrize("kind", KEY_WORDS)
def test_evaluation_shares_only_the_key_word_with_training(kind: str) -> None:
    train, evaluation = (words(tuple(WORDINGS[kind][split])) for split in ("train", "eval"))
    assert train & evaluation == {KEY_WORDS[kind]}


@pytest.mark.parametrize("kind", KEY_WORDS)
def test_every_wording_is_short_and_holds_the_key_word(kind: str) -> None:
    texts = (*WORDINGS[kind]["train"], *WORDINGS[kind]["eval"])
    assert len(texts) == len(set(texts))
    for text in texts:
        assert KEY_WORDS[kind] in text.casefold()
        assert 1 <= len(text.split()) < 8


@pytest.mark.parametrize(
    ("kind", "vector"),
    [
        ("none", (1, 0.5, 0.25)),
        ("balanced", (1, 0.5, 0.25)),
        ("frugal", (1, 1, 0)),
        ("hurried", (1, 0, 1)),
        ("thorough", (1, 0, 0)),
    ],
)
def test_a_kind_means_its_vector_and_weights_no_tool(
    kind: str, vector: tuple[float, float, float]
) -> None:
    drawn = draw_preference({kind: 1}, TOOLS, Random(0))
    assert (drawn.outcome, drawn.cost, drawn.latency) == vector
    assert drawn.tools == {}
    assert drawn.kind == kind


def test_no_instruction_means_an_empty_one() -> None:
    assert draw_preference({"none": 1}, TOOLS, Random(0)).instruction == ""


@given(seed=st.integers(0, 1000), split=st.sampled_from(["train", "eval"]))
def test_a_preferred_tool_is_offered_named_and_weighted(seed: int, split: Split) -> None:
    drawn = draw_preference({"tool": 1}, TOOLS, Random(seed), split)
    (name,) = drawn.tools
    assert name in TOOLS
    assert drawn.tools[name] == 1.0
    assert name in drawn.instruction
    assert (drawn.outcome, drawn.cost, drawn.latency) == (1, 0.25, 0)


def test_every_offered_tool_is_preferred_sooner_or_later() -> None:
    drawn = {next(iter(draw_preference({"tool": 1}, TOOLS, Random(s)).tools)) for s in range(40)}
    assert drawn == set(TOOLS)


def test_kinds_are_drawn_by_weight() -> None:
    kinds = {"frugal": 3.0, "hurried": 1.0, "thorough": 0.0}
    rng = Random(0)
    drawn = [draw_preference(kinds, TOOLS, rng).kind for _ in range(400)]
    # 300 expected, standard deviation sqrt(400 x 0.75 x 0.25) = 8.7
    assert 265 <= drawn.count("frugal") <= 335
    assert drawn.count("thorough") == 0


def test_the_same_seed_draws_the_same_preference() -> None:
    kinds = dict.fromkeys(KINDS, 1.0)
    first, second = (
        [draw_preference(kinds, TOOLS, Random(seed)) for seed in range(20)] for _ in range(2)
    )
    assert first == second


def test_a_pair_of_ones_own_is_used_as_written() -> None:
    own = own_pairs(
        {"mine": PairConfig(instruction="Stay local.", cost=0.2, tools={"gpt_5": 0.4, "gone": 1.0})}
    )
    drawn = draw_preference({"mine": 1}, TOOLS, Random(0), own=own)
    assert (drawn.instruction, drawn.outcome, drawn.cost, drawn.latency) == (
        "Stay local.",
        1,
        0.2,
        0,
    )
    # this episode does not offer the other tool, so that its weight has nothing to act on
    assert drawn.tools == {"gpt_5": 0.4}


def table(*wishes: tuple[str, dict[str, float]]) -> PairTable:
    pairs = [
        Pair(
            split="train",
            preference=Preference(
                kind="like", instruction=text, outcome=1.0, cost=0.0, latency=0.0, tools=tools
            ),
        )
        for text, tools in wishes
    ]
    return PairTable(pairs, [])


def test_a_kind_of_the_table_is_drawn_from_the_pairs_that_fit_the_episode() -> None:
    pairs = table(("Take gpt_5.", {"gpt_5": 1.0}), ("Take gone.", {"gone": 1.0}))
    drawn = {
        draw_preference({"like": 1}, TOOLS, Random(s), table=pairs).instruction for s in range(20)
    }
    assert drawn == {"Take gpt_5."}


def test_a_kind_of_the_table_that_fits_nothing_is_left_out() -> None:
    pairs = table(("Take gone.", {"gone": 1.0}))
    kinds = {"like": 9.0, "frugal": 1.0}
    assert draw_preference(kinds, TOOLS, Random(0), table=pairs).kind == "frugal"
    assert draw_preference({"like": 1.0}, TOOLS, Random(0), table=pairs).kind == "none"
    assert draw_preference({"like": 1.0}, TOOLS, Random(0), "eval", table=pairs).kind == "none"


def test_without_tools_none_is_wished_for() -> None:
    drawn = {draw_preference({"tool": 9, "frugal": 1}, [], Random(seed)).kind for seed in range(20)}
    assert drawn == {"frugal"}
