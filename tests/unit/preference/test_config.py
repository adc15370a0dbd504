"""A preference that cannot be meant is refused by its key."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.preference.config import PairConfig, PreferenceConfig, TableConfig


def preference(**changes: Any) -> PreferenceConfig:
    fields: dict[str, Any] = {"name": "test", "kinds": {"frugal": 1.0}}
    return PreferenceConfig(**(fields | changes))


@pytest.mark.parametrize("entry", ["outcome", "cost", "latency"])
@pytest.mark.parametrize("value", [-0.1, 1.1, 3.0, float("nan")])
def test_an_entry_outside_0_and_1_is_refused(entry: str, value: float) -> None:
    pair = PairConfig(instruction="Mine.", **{entry: value})
    with pytest.raises(ValueError, match=rf"^preference\.pairs\.mine\.{entry}: .* from 0 to 1"):
        preference(kinds={"mine": 1}, pairs={"mine": pair})


def test_a_tool_weight_outside_0_and_1_is_refused() -> None:
    # the published training data holds weights of 3
    pair = PairConfig(instruction="Mine.", tools={"gpt_5": 3.0})
    with pytest.raises(ValueError, match=r"pairs\.mine\.tools\.gpt_5: 3.0 is not allowed"):
        preference(kinds={"mine": 1}, pairs={"mine": pair})


def test_the_bounds_themselves_are_accepted() -> None:
    pair = PairConfig(instruction="Mine.", outcome=0.0, cost=1.0, tools={"gpt_5": 1.0})
    preference(kinds={"mine": 1}, pairs={"mine": pair})


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'frugl' is not allowed; use none, balanced, frugal"):
        preference(kinds={"frugl": 1})


@pytest.mark.parametrize("kinds", [{}, {"frugal": 0.0}, {"frugal": -1.0}, {"frugal": float("nan")}])
def test_weights_that_can_draw_nothing_are_refused(kinds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"preference\.kinds"):
        preference(kinds=kinds)


def test_a_pair_of_ones_own_cannot_take_a_built_in_name() -> None:
    with pytest.raises(ValueError, match="'frugal' is not allowed"):
        preference(pairs={"frugal": PairConfig(instruction="Mine.")})
    with pytest.raises(ValueError, match="'privacy' is not allowed"):
        preference(pairs={"privacy": PairConfig(instruction="Mine.")})


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_table_without_a_training_or_an_evaluation_side_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=r"preference\.table\.eval_share: .* between 0 and 1"):
        TableConfig(eval_share=share)
    with pytest.raises(ValueError, match=r"preference\.table\.num_pairs: 1 is not allowed"):
        TableConfig(num_pairs=1)


def test_a_table_is_used_where_one_of_its_kinds_has_a_weight() -> None:
    assert preference(kinds={"vendor": 1, "frugal": 1}).uses_table
    assert not preference(kinds={"vendor": 0, "frugal": 1}).uses_table
