"""A policy behind an API: the shipped ones can be asked once their keys are set, others not."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, cast

import pytest
from omegaconf import OmegaConf
from tests.composed import CONF, composed, options_of

from toolorchestra.config import EvaluateConfig
from toolorchestra.model.config import ApiConfig, ModelConfig
from toolorchestra.provider.config import CassetteConfig
from toolorchestra.worlds import check_worlds

MODELS = sorted(path.stem for path in (CONF / "model/api").glob("*.yaml"))
KEYS = ("OPENAI", "ANTHROPIC", "TOGETHER", "NEBIUS", "DASHSCOPE")


@cache
def options() -> EvaluateConfig:
    return cast(
        EvaluateConfig, OmegaConf.to_object(composed("model=api/gpt_5", command="evaluate"))
    )


def changed(**changes: Any) -> EvaluateConfig:
    """The defaults with GPT-5 as the policy, and some of its options changed."""
    return dataclasses.replace(options(), **changes)


def model(**changes: Any) -> EvaluateConfig:
    return changed(model=dataclasses.replace(options().model, **changes))


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(f"{name}_API_KEY", "set")


def test_the_papers_prompted_baselines_are_there() -> None:
    named = {"gpt_5", "claude_opus_4_1", "llama_3_3_70b", "qwen3_235b_a22b", "nemotron_49b"}
    assert set(MODELS) == {"prompted", *named, "qwen3_8b"}


def shipped(name: str) -> dict[str, Any]:
    """What a shipped file says, over what all share."""
    parts = [OmegaConf.load(CONF / f"model/api/{part}.yaml") for part in ("prompted", name)]
    merged = cast(dict[str, Any], OmegaConf.to_container(OmegaConf.merge(*parts)))
    assert merged.pop("defaults") == ["api/prompted@_here_", "_self_"]
    return merged | {"api": ApiConfig(**merged["api"])}


@pytest.mark.parametrize("name", [name for name in MODELS if name != "prompted"])
def test_every_shipped_api_model_is_served_and_priced(name: str, keys: None) -> None:
    config = model(**shipped(name))
    assert config.model.name == name and config.model.tool_style == "full"
    assert all("masked" not in note for note in check_worlds(config))
    prices = {name for s in config.pricing.schedules.values() for name in s.prices}
    assert config.model.priced_as in prices


def test_a_key_that_is_not_set_is_asked_for_unless_a_cassette_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ValueError, match="OPENAI_API_KEY is not set, and model.api needs it"):
        check_worlds(options())
    replay = CassetteConfig(mode="replay", path="tape.jsonl")
    check_worlds(changed(provider=dataclasses.replace(options().provider, cassette=replay)))


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("nobody", "model.api.provider: 'nobody' is not allowed; use one of provider.providers"),
        ("tavily", "provider.providers.tavily.api: tavily is not allowed for the policy"),
    ],
)
def test_a_provider_that_cannot_serve_a_policy_is_refused(provider: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        check_worlds(model(api=ApiConfig(provider=provider)))


def test_an_engine_for_weights_is_refused(keys: None) -> None:
    rollout = dataclasses.replace(options().rollout, engine="vllm")
    with pytest.raises(ValueError, match="'vllm' is not allowed with model.api"):
        check_worlds(changed(rollout=rollout))


def test_training_is_refused_as_there_are_no_weights() -> None:
    with pytest.raises(ValueError, match="model.api: gpt_5 is not allowed in training") as caught:
        dataclasses.replace(options_of(), model=options().model)
    assert "\n" not in str(caught.value)


def test_a_policy_with_weights_is_evaluated_on_vllm_as_before() -> None:
    loaded = OmegaConf.load(CONF / "model/qwen3_8b.yaml")
    merged = OmegaConf.merge(OmegaConf.structured(ModelConfig), loaded)
    rollout = dataclasses.replace(options().rollout, engine="vllm")
    config = changed(model=OmegaConf.to_object(merged), rollout=rollout)
    check_worlds(config)
    assert (config.model.path, config.model.api) == ("Qwen/Qwen3-8B", None)
