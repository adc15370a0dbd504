import pytest

from toolorchestra.entry.played import deciding, first_difference

CONFIG = {
    "output_dir": "a",
    "num_threads": 1,
    "rollout": {"max_turns": 50, "max_concurrent": 4, "tool_timeout_s": None, "vllm": {"urls": []}},
    "judge": {"model": "GPT-5", "cache": "x.sqlite", "asks": {}},
    "provider": {"providers": {"mine": {"models": {"a": "b"}, "retry_first_s": 1.0}}},
    "seed": 1,
}


def test_what_decides_leaves_out_places_limits_of_speed_and_patience():
    assert deciding(CONFIG) == {
        "rollout.max_turns": 50,
        "judge.model": "GPT-5",
        "judge.asks": {},
        "provider.providers.mine.models.a": "b",
        "seed": 1,
    }


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        ({"a.b": 1, "c": 2}, {"a.b": 1, "c": 2}, None),
        ({"a.b": 1, "c": 2}, {"a.b": 3, "c": 4}, "a.b was 1 and is 3"),
        ({"a": 1}, {"a": 1, "c": "x"}, 'c was absent and is "x"'),
        ({"a": 1, "c": None}, {"a": 1}, "c was null and is absent"),
    ],
)
def test_the_first_key_that_differs_is_named_with_both_values(then, now, told):
    assert first_difference(then, now) == told


def test_a_long_value_is_shortened():
    told = first_difference({"a": "x" * 200}, {"a": "y" * 200})
    assert len(told) < 150 and told.count("...") == 2
