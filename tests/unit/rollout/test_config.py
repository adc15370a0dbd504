import math

import pytest

from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.rollout.config import RolloutConfig


def test_the_defaults_are_the_papers():
    config = RolloutConfig()
    assert (config.max_turns, config.temperature, config.top_p, config.top_k) == (50, 1.0, 1.0, 0)


@pytest.mark.parametrize(
    "key, value, allowed",
    [
        ("engine", "scripted", "transformers or vllm"),
        ("max_turns", 0, "a whole number from 1"),
        ("max_concurrent", 0, "a whole number from 1"),
        ("prefill_tokens", 0, "a whole number from 1"),
        ("batch_wait_s", 0.0, "seconds above 0"),
        ("tool_timeout_s", -1.0, "seconds above 0"),
        ("rollout_timeout_s", math.nan, "seconds above 0"),
        ("max_redispatch", -1, "a whole number from 0"),
        ("max_staleness", -1, "a whole number from 0"),
        ("max_staleness", 1, "0 with rollout.engine=transformers"),
        ("max_replacements", -1, "a whole number from 0"),
        ("temperature", 0.7, "1: the update scores tokens at temperature 1"),
        ("temperature", 0.0, "1: the update"),
        ("temperature", math.nan, "1: the update"),
        ("top_p", 0.9, "1: the update scores tokens under the whole distribution"),
        ("top_k", 50, r"0 \(off\): the update"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(key, value, allowed):
    with pytest.raises(ValueError, match=rf"^rollout\.{key}: .* is not allowed; use {allowed}"):
        RolloutConfig(**{key: value})


def test_workers_that_sleep_while_the_weights_change_cannot_sample_ahead():
    with pytest.raises(ValueError, match=r"max_staleness: 1 is not .* 0 with rollout.vllm.sleep="):
        RolloutConfig(engine="vllm", max_staleness=1, vllm=VllmConfig(sleep=True))


def test_workers_of_their_own_may_sample_ahead_of_the_weights():
    assert RolloutConfig(engine="vllm", max_staleness=2).max_staleness == 2
