import math

import pytest

from toolorchestra.engine.vllm.config import VllmConfig


@pytest.mark.parametrize(
    "key, value, allowed",
    [
        ("num_workers", 0, "a whole number from 1"),
        ("tensor_parallel", 0, "a whole number from 1"),
        ("first_gpu", -1, "a whole number from 0"),
        ("max_restarts", -1, "a whole number from 0"),
        ("transfer", "rdma", "file, nccl, ipc"),
        ("kv_cache_gib", -0.5, "0 or more"),
        ("kv_cache_gib", math.nan, "0 or more"),
        ("start_timeout_s", 0.0, "seconds above 0"),
        ("load_timeout_s", -1.0, "seconds above 0"),
        ("request_timeout_s", math.nan, "seconds above 0"),
        ("max_logprob_gap", 0.0, "a number above 0, or null"),
        ("urls", ["node7:8000"], "addresses that begin with http:// or https://"),
        ("urls", ["http://a:1", "http://a:1"], "each address once"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(key, value, allowed):
    with pytest.raises(
        ValueError, match=rf"^rollout\.vllm\.{key}: .* is not allowed; use {allowed}"
    ):
        VllmConfig(**{key: value})


def test_the_defaults_and_a_list_of_servers_are_allowed():
    assert VllmConfig().urls == []
    assert VllmConfig(urls=["http://a:1", "https://b"]).urls == ["http://a:1", "https://b"]
