"""Options of providers, checked when the config is built."""

from __future__ import annotations

import pytest

from toolorchestra.provider.config import CassetteConfig, ProviderConfig, ProvidersConfig

URL = "https://acme.example/v1"


def group(**options):
    return ProvidersConfig(name="t", providers={"acme": ProviderConfig(**options)})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, r"providers\.acme\.base_url: neither is not allowed; use either"),
        ({"base_url": URL, "registry": "outputs"}, r"base_url: both is not allowed"),
        ({"base_url": "acme.example/v1"}, r"base_url: 'acme\.example/v1' is not allowed"),
        ({"base_url": URL, "api": "soap"}, r"api: 'soap' is not allowed; use chat, responses"),
        ({"base_url": URL, "max_concurrent": 0}, r"max_concurrent: 0 is not allowed"),
        ({"base_url": URL, "requests_per_minute": 0}, r"requests_per_minute: 0"),
        ({"base_url": URL, "read_timeout_s": 0}, r"read_timeout_s: 0"),
        ({"base_url": URL, "read_timeout_s": float("nan")}, r"read_timeout_s: nan"),
        ({"base_url": URL, "retry_first_s": -1}, r"retry_first_s: -1"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_key_value_and_what_is_allowed(options, told):
    with pytest.raises(ValueError, match=told):
        group(**options)


def test_a_key_in_place_of_its_variables_name_is_refused_and_not_repeated():
    with pytest.raises(ValueError, match="NAME of an environment variable") as caught:
        group(base_url=URL, key_env="sk-live-0123456789")
    assert "sk-live" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"mode": "off", "path": "x"}, {"mode": "record"}, {"mode": "x"}]
)
def test_a_cassette_has_a_mode_and_a_file_or_neither(options):
    with pytest.raises(ValueError, match=r"provider\.cassette\."):
        CassetteConfig(**options)


def test_the_first_provider_that_serves_a_model_is_the_one():
    first = ProviderConfig(base_url=URL, models={"Big": "big-1"})
    second = ProviderConfig(base_url=URL, models={"Big": "b", "Small": "s"})
    config = ProvidersConfig(name="t", providers={"one": first, "two": second})
    assert config.serving("Big") == ("one", first)
    assert config.serving("Small") == ("two", second)
    assert config.serving("Other") is None
