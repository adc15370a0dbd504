"""Exported folders: what is in them, that others load them, that they are whole or absent."""

import copy
import json

import peft
import pytest
import torch
from safetensors import safe_open
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import fresh_model, full_logits, tiny_model
from tests.unit.engine.vllm.test_weights import room_for
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from toolorchestra.chat.render import builtin_template
from toolorchestra.model import export
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.export import export_policy
from toolorchestra.model.policy import load_policy
from toolorchestra.model.weights import plain_weights

IDS = [5, 6, 7, 8, 300, 2]
END_ID = 2
FILES = {
    "README.md", "chat_template.jinja", "config.json", "generation_config.json",
    "model.safetensors", "tokenizer.json", "tokenizer_config.json",
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore:Model has `tie_word_embeddings=True` and a tied")
OWN = "{% for message in messages %}{{ message.content }}{% endfor %}"


def exported(folder, model=None, tokenizer=None, **changes):
    return export_policy(
        model or tiny_model(),
        tokenizer or qwen_tokenizer(),
        folder,
        config=ModelConfig(**({"max_new_tokens": 9} | changes)),
        end_id=END_ID,
        card="# A card\n",
    )


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_the_folder_is_complete_and_loads_as_the_same_policy(tmp_path):
    folder = exported(tmp_path / "run" / "model")
    assert folder == tmp_path / "run" / "model"
    assert names(folder) == FILES and names(folder.parent) == {"model"}
    assert (folder / "README.md").read_text() == "# A card\n"
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    assert model.dtype == torch.float32
    assert torch.equal(full_logits(IDS, model.eval()), full_logits(IDS))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.get_vocab() == qwen_tokenizer().get_vocab()
    text = "<|im_start|>user\nWhat is 2 + 2?<|im_end|>"
    assert tokenizer.encode(text) == qwen_tokenizer().encode(text)
    again, _ = load_policy(ModelConfig(path=str(folder)))
    assert torch.equal(full_logits(IDS, again.eval()), full_logits(IDS))


def test_the_output_layer_is_there_on_its_own_and_the_config_says_so(tmp_path):
    folder = exported(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    assert config["tie_word_embeddings"] is False
    assert config["architectures"] == ["Qwen3ForCausalLM"] and config["model_type"] == "qwen3"
    assert "_name_or_path" not in config
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert torch.equal(file.get_tensor("lm_head.weight"), tiny_model().lm_head.weight)
        assert set(file.keys()) == set(tiny_model().state_dict())


def test_the_generation_settings_are_those_of_the_evaluation(tmp_path):
    folder = exported(tmp_path / "model")
    assert json.loads((folder / "generation_config.json").read_text()) == {
        "do_sample": False,
        "temperature": 0.0,
        "max_new_tokens": 9,
        "eos_token_id": END_ID,
        "pad_token_id": qwen_tokenizer().pad_token_id,
    }
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert isinstance(model.generation_config, GenerationConfig)
    ids = model.generate(torch.tensor([IDS]))[0, len(IDS) :].tolist()
    row = list(IDS)
    for token in ids:
        assert int(full_logits(row)[-1].argmax()) == token
        row.append(token)
    assert len(ids) == 9 or ids[-1] == END_ID


def test_the_chat_template_is_the_one_that_the_policy_was_trained_with(tmp_path):
    tokenizer = copy.deepcopy(qwen_tokenizer())
    tokenizer.chat_template = OWN
    ours = exported(tmp_path / "ours", tokenizer=tokenizer, template="qwen3")
    own = exported(tmp_path / "own", tokenizer=tokenizer, template="own")
    assert AutoTokenizer.from_pretrained(ours).chat_template == builtin_template()
    assert (ours / "chat_template.jinja").read_text() == builtin_template()
    assert AutoTokenizer.from_pretrained(own).chat_template == OWN
    assert tokenizer.chat_template == OWN, "the tokenizer is as it was"


def test_weights_keep_the_precision_that_they_have(tmp_path):
    folder = exported(tmp_path / "model", fresh_model().to(torch.bfloat16))
    assert AutoModelForCausalLM.from_pretrained(folder, dtype="auto").dtype == torch.bfloat16


def adapted(model=None, **changes):
    """A model whose adapters add something, the output layer's too."""
    options = {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "down_proj", "lm_head"]}
    model = model or fresh_model()
    peft.inject_adapter_in_model(peft.LoraConfig(**(options | changes)), model)
    torch.manual_seed(3)
    for name, weight in model.named_parameters():
        if ".lora_" in name:
            torch.nn.init.normal_(weight, std=0.2)
    return model.eval()


def test_adapters_are_merged_and_the_live_model_stays_as_it_is(tmp_path):
    model = adapted()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    live = full_logits(IDS, model)
    assert (live - full_logits(IDS)).abs().max() > 0.1, "the adapters do something"
    folder = exported(tmp_path / "model", model)
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert set(file.keys()) == set(tiny_model().state_dict())
    loaded = AutoModelForCausalLM.from_pretrained(folder)
    torch.testing.assert_close(full_logits(IDS, loaded.eval()), live, rtol=1e-5, atol=1e-5)
    after = model.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert torch.equal(full_logits(IDS, model), live)


def test_an_adapted_embedding_leaves_the_tied_output_layer_alone(tmp_path):
    model = adapted(target_modules=["embed_tokens"])
    loaded = AutoModelForCausalLM.from_pretrained(exported(tmp_path / "model", model))
    live = full_logits(IDS, model)
    torch.testing.assert_close(full_logits(IDS, loaded.eval()), live, rtol=1e-5, atol=1e-5)


def test_adapters_that_are_off_or_merged_already_add_nothing_more():
    model = adapted()
    layer = model.model.layers[0].self_attn.q_proj
    name = "model.layers.0.self_attn.q_proj.weight"
    whole = dict(plain_weights(model))[name]
    layer.enable_adapters(False)
    base = dict(plain_weights(model))[name]
    assert torch.equal(base, layer.base_layer.weight) and not torch.equal(base, whole)
    layer.enable_adapters(True)
    layer.merge()
    torch.testing.assert_close(dict(plain_weights(model))[name], whole)


def test_merging_rounds_once_to_the_precision_of_the_base():
    model = adapted(fresh_model().to(torch.bfloat16))
    layer = model.model.layers[1].mlp.down_proj
    merged = dict(plain_weights(model))["model.layers.1.mlp.down_proj.weight"]
    exact = layer.base_layer.weight.float() + layer.get_delta_weight("default").float()
    assert merged.dtype == torch.bfloat16
    assert torch.equal(merged, exact.bfloat16())


@pytest.mark.parametrize("num_bytes", [100, 2000, 100_000], ids=["config", "template", "weights"])
def test_a_disk_without_room_is_one_sentence_and_leaves_nothing(tmp_path, num_bytes):
    with (
        pytest.raises(ValueError, match=r"^output_dir: cannot write .*File too large.*; use a fol"),
        room_for(num_bytes),
    ):
        exported(tmp_path / "model")
    assert names(tmp_path) == set()


def test_a_tokenizer_that_finds_no_room_is_one_sentence_too(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "write_weights", lambda model, folder: None)
    with pytest.raises(ValueError, match="^output_dir: .*File too large"), room_for(10_000):
        exported(tmp_path / "model")
    assert names(tmp_path) == set()


def test_a_place_where_nothing_can_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ValueError,
        match=rf"^output_dir: cannot write weights to {tmp_path}/file \(Not a directory\); use a "
        "folder with room for the model$",
    ):
        exported(tmp_path / "file" / "model")


def test_an_older_export_is_replaced_whole_or_stays(tmp_path, monkeypatch):
    folder = exported(tmp_path / "model")
    (folder / "old").write_text("")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(export, "generation_settings", interrupted)
        exported(folder, tiny_model(1))
    assert names(folder) == {*FILES, "old"} and names(tmp_path) == {"model"}
    loaded = AutoModelForCausalLM.from_pretrained(exported(folder, tiny_model(1)))
    assert names(folder) == FILES
    assert torch.equal(full_logits(IDS, loaded.eval()), full_logits(IDS, tiny_model(1)))
