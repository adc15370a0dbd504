"""P is over the offered tools and within [0, 1]."""

from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.preference.config import PairConfig, PreferenceConfig
from toolorchestra.preference.vector import check_preference, check_vector
from toolorchestra.types import Preference


def preference(**changes: Any) -> Preference:
    fields: dict[str, Any] = {
        "kind": "mine",
        "instruction": "Mine.",
        "outcome": 1.0,
        "cost": 0.5,
        "latency": 0.0,
    }
    return Preference(**(fields | changes))


def test_a_vector_within_bounds_over_offered_tools_is_accepted() -> None:
    check_vector(preference(tools={"gpt_5": 1.0}), ["gpt_5", "web_search"])


def test_a_weight_on_an_absent_tool_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'gpt_6' is not allowed.*use gpt_5, web_search"):
        check_vector(preference(tools={"gpt_6": 1.0}), ["gpt_5", "web_search"])


@pytest.mark.parametrize("entry", ["outcome", "cost", "latency"])
@pytest.mark.parametrize("value", [-0.3, 1.5, float("nan")])
def test_an_entry_outside_0_and_1_is_refused(entry: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"preference\.{entry}: "):
        check_vector(preference(**{entry: value}), ["gpt_5"])


def test_a_tool_weight_outside_0_and_1_is_refused() -> None:
    with pytest.raises(ValueError, match=r"preference\.tools\.gpt_5: 3"):
        check_vector(preference(tools={"gpt_5": 3}), ["gpt_5"])


def test_a_configured_pair_over_a_tool_outside_the_toolset_is_refused() -> None:
    config = PreferenceConfig(
        name="test",
        kinds={"mine": 1},
        pairs={"mine": PairConfig(instruction="Mine.", tools={"gpt_5": 1.0})},
    )
    check_preference(config, ["gpt_5", "web_search"])
    with pytest.raises(ValueError, match=r"preference\.pairs\.mine\.tools: 'gpt_5' is not allowed"):
        check_preference(config, ["web_search"])


def test_a_wish_for_a_tool_alone_is_refused_where_there_are_no_tools() -> None:
    with pytest.raises(ValueError, match=r"^preference.kinds: 'tool' alone is not allowed"):
        check_preference(PreferenceConfig(name="t", kinds={"tool": 1, "none": 0}), [])
    check_preference(PreferenceConfig(name="t", kinds={"tool": 1, "none": 1}), [])
    pair = PairConfig(instruction="Go.", tools={"gpt_5": 1.0})
    with pytest.raises(ValueError, match="use no weights on tools, as there are none$"):
        check_preference(PreferenceConfig(name="t", kinds={"a": 1}, pairs={"a": pair}), [])
