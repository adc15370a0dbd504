"""A subset can always solve its task, or says that it cannot."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolorchestra.tool.config import Odds, ToolConfig
from toolorchestra.toolset.select import Selection, select


def tools_of(chances: list[float]) -> dict[str, ToolConfig]:
    return {
        f"tool_{i}": ToolConfig(
            kind="llm",
            description="A tool.",
            priced_as="GPT-5",
            latency_s=1,
            profile={"math": Odds(right=chance)},
        )
        for i, chance in enumerate(chances)
    }


def pick(
    chances: list[float],
    seed: int = 0,
    *,
    skill: str = "math",
    sizes: tuple[int, int] = (1, 2),
    masked: frozenset[str] = frozenset(),
    needed: frozenset[str] = frozenset(),
) -> Selection:
    tools = tools_of(chances)
    return select(
        tools,
        skill=skill,
        min_tools=sizes[0],
        max_tools=sizes[1],
        rng=Random(seed),
        prices=set(tools) - masked,
        needed=needed,
    )


@given(
    chances=st.lists(st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.9]), min_size=1, max_size=8),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_a_subset_is_solvable_or_says_so(
    chances: list[float], seed: int, data: st.DataObject
) -> None:
    smallest = data.draw(st.integers(1, len(chances)))
    largest = data.draw(st.integers(smallest, len(chances)))
    masked = data.draw(st.sets(st.sampled_from(range(len(chances))), max_size=len(chances) - 1))
    priced = [i for i in range(len(chances)) if i not in masked]
    selection = pick(
        chances, seed, sizes=(smallest, largest), masked=frozenset(f"tool_{i}" for i in masked)
    )
    picked = [int(name.removeprefix("tool_")) for name in selection.names]
    assert set(picked) <= set(priced)
    assert len(set(picked)) == len(picked)
    assert min(smallest, len(priced)) <= len(picked) <= min(largest, len(priced))
    best = max(chances[i] for i in priced)
    assert selection.is_solvable == (best > 0)
    if selection.is_solvable:
        assert max(chances[i] for i in picked) >= min(0.5, best)


def test_a_lone_able_tool_is_always_there() -> None:
    for seed in range(50):
        assert "tool_3" in pick([0.1, 0.4, 0.0, 0.9, 0.2], seed).names


def test_one_of_several_able_tools_is_enough_and_each_gets_its_turn() -> None:
    seen = {pick([0.6, 0.0, 0.9, 0.0], seed, sizes=(1, 1)).names for seed in range(60)}
    assert seen == {("tool_0",), ("tool_2",)}


def test_the_best_there_is_stands_in_where_none_is_able() -> None:
    for seed in range(50):
        selection = pick([0.1, 0.4, 0.3], seed)
        assert "tool_1" in selection.names
        assert selection.is_solvable


def test_a_task_that_no_tool_can_solve_says_so() -> None:
    assert not pick([0.0, 0.0]).is_solvable
    assert not pick([0.9, 0.9], skill="service").is_solvable


def test_a_masked_tool_neither_appears_nor_counts_as_able() -> None:
    for seed in range(20):
        selection = pick([0.9, 0.0], seed, masked=frozenset({"tool_0"}))
        assert selection == Selection(names=("tool_1",), is_solvable=False)


def test_the_same_seed_picks_the_same_subset() -> None:
    assert [pick([0.5] * 6, s) for s in range(20)] == [pick([0.5] * 6, s) for s in range(20)]


def test_sizes_and_places_vary() -> None:
    picked = [pick([0.9] * 5, seed, sizes=(2, 4)).names for seed in range(100)]
    assert {len(names) for names in picked} == {2, 3, 4}
    assert {names[0] for names in picked} == {f"tool_{i}" for i in range(5)}
    assert any(list(names) != sorted(names) for names in picked)


def test_no_tool_with_a_price_is_refused() -> None:
    with pytest.raises(ValueError, match=r"toolset\.tools: none has a price"):
        pick([0.9], masked=frozenset({"tool_0"}))


@pytest.mark.parametrize("seed", range(40))
def test_one_of_the_needed_tools_is_there_and_an_able_one_stays(seed: int) -> None:
    needed = frozenset({"tool_1", "tool_2"})
    selection = pick([0.9, 0.1, 0.0, 0.2, 0.1, 0.3], seed, sizes=(2, 3), needed=needed)
    assert needed & set(selection.names)
    assert "tool_0" in selection.names and selection.is_solvable
    assert len(set(selection.names)) == len(selection.names) in (2, 3)


def test_of_needed_tools_an_able_one_is_taken_where_one_tool_is_all() -> None:
    chances, needed = [0.9, 0.1, 0.8], frozenset({"tool_1", "tool_2"})
    drawn = {pick(chances, seed, sizes=(1, 1), needed=needed).names for seed in range(40)}
    assert drawn == {("tool_2",)}


def test_needing_what_is_there_anyway_changes_no_draw() -> None:
    chances = [0.9, 0.1, 0.8]
    for seed in range(20):
        drawn = pick(chances, seed)
        assert pick(chances, seed, needed=frozenset(drawn.names)) == drawn


def test_needed_tools_without_a_price_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^toolset\.fronts: none that answers .*; use "):
        pick([0.9, 0.1], masked=frozenset({"tool_1"}), needed=frozenset({"tool_1"}))


def test_a_toolset_without_tools_offers_none() -> None:
    assert pick([], sizes=(0, 0)) == Selection(names=(), is_solvable=False)
