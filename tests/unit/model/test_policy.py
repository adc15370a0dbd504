import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import tiny_model

from toolorchestra.model.config import ModelConfig
from toolorchestra.model.policy import TINY, folder_or_name, load_policy


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy")
    tiny_model().save_pretrained(folder)
    qwen_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "policy")


def change_weights(folder, change):
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def change_json(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refusal(folder):
    with pytest.raises(ValueError) as error:
        load_policy(ModelConfig(path=str(folder)))
    message = str(error.value)
    assert message.startswith(f"model.path: cannot load '{folder}' (")
    assert message.endswith(
        "use a folder with config.json, weights and tokenizer, a hub name, or tiny"
    )
    assert "\n" not in message
    return message


def test_a_saved_policy_comes_back_bit_by_bit(folder):
    model, tokenizer = load_policy(ModelConfig(path=str(folder)))
    for name, weight in tiny_model().named_parameters():
        assert torch.equal(model.get_parameter(name), weight)
    assert tokenizer.get_vocab() == qwen_tokenizer().get_vocab()


def test_the_dtype_is_the_configs(folder):
    model, _ = load_policy(ModelConfig(path=str(folder), dtype="bfloat16"))
    assert model.dtype == torch.bfloat16


@pytest.mark.parametrize("is_trained", [True, False])
def test_embeddings_are_trained_unless_the_config_says_no(folder, is_trained):
    model, _ = load_policy(ModelConfig(path=str(folder), train_embeddings=is_trained))
    untrained = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    # the output layer is tied to them
    assert untrained == (set() if is_trained else {"model.embed_tokens.weight"})
    model(input_ids=torch.tensor([[1, 2, 3]])).logits.sum().backward()
    assert (model.get_input_embeddings().weight.grad is not None) == is_trained


def test_a_context_longer_than_the_models_is_refused(folder):
    change_json(folder / "config.json", max_position_embeddings=500)
    assert load_policy(ModelConfig(path=str(folder), max_context=500, max_new_tokens=16))
    with pytest.raises(ValueError, match=r"^model\.max_context: 501 is not .* 500 tokens$"):
        load_policy(ModelConfig(path=str(folder), max_context=501, max_new_tokens=16))


def test_tiny_means_the_folder_that_ships_with_the_project():
    assert folder_or_name("tiny") == str(TINY)
    assert folder_or_name("Qwen/Qwen3-8B") == "Qwen/Qwen3-8B"


def test_a_missing_folder_is_named(tmp_path):
    assert "there is no such folder" in refusal(tmp_path / "nowhere")
    assert "there is no such folder" in refusal("./nowhere")


def test_a_name_that_cannot_be_reached_is_named():
    refusal("nobody/nothing")


@pytest.mark.parametrize(
    "name", ["model.safetensors", "tokenizer.json", "config.json", "tokenizer_config.json"]
)
def test_a_truncated_file_is_refused(folder, name):
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    refusal(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_an_empty_file_is_refused(folder, name):
    (folder / name).write_bytes(b"")
    refusal(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers_are_refused_by_name(folder, value):
    change_weights(folder, lambda weights: weights["model.norm.weight"].fill_(value))
    assert "NaN or infinite weights in model.norm.weight" in refusal(folder)


def test_missing_weights_are_never_made_up(folder):
    name = "model.layers.1.mlp.up_proj.weight"
    change_weights(folder, lambda weights: weights.pop(name))
    assert f"no weights for {name}" in refusal(folder)


def test_weights_of_another_shape_are_refused(folder):
    change_json(folder / "config.json", intermediate_size=32)
    refusal(folder)


def test_a_folder_without_weights_or_tokenizer_is_refused(folder):
    (folder / "tokenizer.json").rename(folder / "elsewhere.json")
    (folder / "tokenizer_config.json").unlink()
    assert "no vocabulary" in refusal(folder)
    (folder / "elsewhere.json").rename(folder / "tokenizer.json")
    (folder / "model.safetensors").unlink()
    refusal(folder)


def test_a_damaged_tokenizer_is_refused(folder):
    (folder / "tokenizer.json").write_text("{}")
    refusal(folder)


def test_a_tokenizer_of_more_tokens_than_the_model_embeds_is_refused(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    next_id = len(qwen_tokenizer())
    added = {**tokenizer["added_tokens"][-1], "id": next_id, "content": "<more>"}
    change_json(folder / "tokenizer.json", added_tokens=[*tokenizer["added_tokens"], added])
    assert f"{next_id + 1} tokens, but embeddings for {next_id}" in refusal(folder)


def test_a_model_that_embeds_more_than_its_tokenizer_has_is_fine(saved, tmp_path):
    wide = tiny_model().__class__(
        tiny_model().config.__class__(
            **{**tiny_model().config.to_dict(), "vocab_size": len(qwen_tokenizer()) + 100}
        )
    )
    wide.save_pretrained(tmp_path)
    qwen_tokenizer().save_pretrained(tmp_path)
    load_policy(ModelConfig(path=str(tmp_path)))
