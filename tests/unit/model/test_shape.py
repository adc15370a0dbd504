"""Where a model's shape comes from, and what counts its weights."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import huggingface_hub
import pytest
from tests.unit.trainer.shapes import QWEN3_8B, model_of, shape
from transformers import AutoConfig

from toolorchestra.model.config import ModelConfig, ShapeConfig
from toolorchestra.model.policy import TINY, load_policy
from toolorchestra.model.shape import num_weights, shape_of


@pytest.fixture
def folder(tmp_path):
    """A folder with the config.json that transformers writes for a small model."""
    model_of(shape()).config.save_pretrained(tmp_path)
    return tmp_path


def change(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_folder_says_itself_what_shape_it_has(folder):
    found = shape_of(ModelConfig(path=str(folder)))
    assert found == replace(shape(), of=str(folder))
    own = AutoConfig.from_pretrained(folder)
    for item in fields(ShapeConfig):
        assert item.name == "of" or getattr(found, item.name) == getattr(own, item.name)


def test_the_shipped_policy_has_as_many_weights_as_are_counted():
    found = shape_of(ModelConfig())
    model, _ = load_policy(ModelConfig())
    assert num_weights(found) == sum(weight.numel() for weight in model.parameters())
    assert json.loads((TINY / "config.json").read_text())["vocab_size"] == found.vocab_size


def test_a_stated_shape_stands_for_its_own_hub_name_and_needs_no_network(monkeypatch):
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", pytest.fail)
    assert shape_of(ModelConfig(path="Qwen/Qwen3-8B", shape=QWEN3_8B)) is QWEN3_8B


def test_a_stated_shape_of_another_model_is_not_taken():
    with pytest.raises(ValueError, match=r"'a/b' cannot be read .* is that of Qwen/Qwen3-8B; use"):
        shape_of(ModelConfig(path="a/b", shape=QWEN3_8B))
    with pytest.raises(ValueError, match=r"'a/b' cannot be read .* model\.shape is none; use"):
        shape_of(ModelConfig(path="a/b"))


def test_the_hubs_copy_in_the_cache_is_read_and_compared(folder, monkeypatch):
    cached = str(folder / "config.json")
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_: cached)
    assert shape_of(ModelConfig(path="a/b")) == replace(shape(), of="a/b")
    assert shape_of(ModelConfig(path="a/b", shape=replace(shape(), of="a/b"))).of == "a/b"


def test_a_stated_shape_must_be_that_of_the_folder(folder):
    stated = replace(shape(), of="a/b")
    assert shape_of(ModelConfig(path=str(folder), shape=stated)).hidden_size == 256
    with pytest.raises(ValueError) as caught:
        shape_of(ModelConfig(path=str(folder), shape=replace(stated, hidden_size=512)))
    assert str(caught.value) == (
        f"model.shape.hidden_size: 512 is not allowed; {str(folder)!r} has 256, use that, or "
        "model.shape=null"
    )


def test_another_build_is_refused_by_name(folder):
    change(folder, model_type="qwen3_moe")
    with pytest.raises(ValueError, match="of the type 'qwen3_moe', whose memory is not known; use"):
        shape_of(ModelConfig(path=str(folder)))


@pytest.mark.parametrize("text", ["{", "{}", None])
def test_a_config_that_cannot_be_read_is_named(tmp_path, text):
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match="config.json cannot be read"):
        shape_of(ModelConfig(path=str(tmp_path)))


def test_a_folder_that_is_not_there_is_no_hub_name():
    with pytest.raises(ValueError, match="there is no folder '/no/such'; use one, a hub name"):
        shape_of(ModelConfig(path="/no/such"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": 0}, "model.shape.hidden_size: 0 is not allowed; use a whole number"),
        ({"num_key_value_heads": 3}, "num_key_value_heads: 3 is not allowed; use a divisor of 4"),
    ],
)
def test_an_impossible_shape_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        shape(**changes)
