"""Folders of weights: what is in them, that they are whole or absent, and which are kept."""

import json
import resource
from contextlib import contextmanager

import pytest
import torch
from safetensors import safe_open
from tests.unit.engine.tiny_model import fresh_model, full_logits, tiny_model
from transformers import AutoModelForCausalLM, Qwen3ForCausalLM

from toolorchestra.engine.vllm.weights import WeightFolders, logprobs_of
from toolorchestra.model import weights

IDS = [5, 6, 7, 8, 300, 2]
FILES = {"config.json", "model.safetensors"}


def untied_model():
    config = tiny_model().config.__class__.from_dict(
        tiny_model().config.to_dict() | {"tie_word_embeddings": False}
    )
    torch.manual_seed(1)
    return Qwen3ForCausalLM(config).eval()


def names(folder):
    return {path.name for path in folder.iterdir()}


@contextmanager
def room_for(num_bytes):
    """No file may grow beyond it, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("make", [fresh_model, untied_model])
def test_what_is_written_loads_as_the_same_model_with_an_output_layer_of_its_own(tmp_path, make):
    model = make()
    folder = WeightFolders(tmp_path / "weights").write(model, 12)
    assert folder == tmp_path / "weights" / "version_000012"
    assert names(folder) == FILES
    config = json.loads((folder / "config.json").read_text())
    assert config["tie_word_embeddings"] is False
    assert config["architectures"] == ["Qwen3ForCausalLM"]
    assert config["dtype"] == "float32"
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert torch.equal(file.get_tensor("lm_head.weight"), model.lm_head.weight)
        assert set(file.keys()) == set(model.state_dict())
    loaded = AutoModelForCausalLM.from_pretrained(folder)
    assert loaded.lm_head.weight is not loaded.model.embed_tokens.weight
    assert torch.equal(full_logits(IDS, loaded.eval()), full_logits(IDS, model))


def test_writing_leaves_the_model_as_it_was(tmp_path):
    model = fresh_model()
    WeightFolders(tmp_path).write(model, 0)
    assert model.config.tie_word_embeddings
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert torch.equal(full_logits(IDS, model), full_logits(IDS))


def test_weights_keep_the_precision_that_they_have(tmp_path):
    folder = WeightFolders(tmp_path).write(fresh_model().to(torch.bfloat16), 0)
    assert json.loads((folder / "config.json").read_text())["dtype"] == "bfloat16"
    loaded = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    assert loaded.dtype == torch.bfloat16


def test_a_version_is_whole_or_absent_and_what_an_interrupted_write_left_is_replaced(
    tmp_path, monkeypatch
):
    folders = WeightFolders(tmp_path)
    whole = folders.write(tiny_model(), 0)

    def interrupted(tensors, path, **options):
        path.write_text("half")
        (path.parent / "stray").write_text("")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(weights, "save_file", interrupted)
        folders.write(tiny_model(1), 1)
    assert not (tmp_path / "version_000001").exists()
    assert names(whole) == FILES
    again = folders.write(tiny_model(1), 1)
    assert names(again) == FILES
    assert names(tmp_path) == {"version_000000", "version_000001"}
    loaded = AutoModelForCausalLM.from_pretrained(again)
    assert torch.equal(full_logits(IDS, loaded.eval()), full_logits(IDS, tiny_model(1)))


def test_a_version_written_again_holds_the_newer_weights(tmp_path):
    folders = WeightFolders(tmp_path)
    folders.write(tiny_model(), 3)
    loaded = AutoModelForCausalLM.from_pretrained(folders.write(tiny_model(1), 3))
    assert torch.equal(full_logits(IDS, loaded.eval()), full_logits(IDS, tiny_model(1)))


@pytest.mark.parametrize("num_bytes", [100, 9000], ids=["config", "weights"])
def test_a_disk_without_room_is_one_sentence_and_leaves_no_version(tmp_path, num_bytes):
    folders = WeightFolders(tmp_path)
    with (
        pytest.raises(ValueError, match="^rollout.vllm.weights_dir: cannot write .*File too large"),
        room_for(num_bytes),
    ):
        folders.write(tiny_model(), 0)
    assert not (tmp_path / "version_000000").exists()
    assert names(folders.write(tiny_model(), 0)) == FILES


def test_a_place_where_nothing_can_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ValueError,
        match=rf"^rollout.vllm.weights_dir: cannot write weights to {tmp_path}/file/weights "
        r"\(Not a directory\); use a folder with room for twice the model$",
    ):
        WeightFolders(tmp_path / "file" / "weights").write(tiny_model(), 0)


def test_all_versions_but_the_given_are_removed_leftovers_too_and_nothing_else(tmp_path):
    folders = WeightFolders(tmp_path)
    paths = [folders.write(tiny_model(), version) for version in range(4)]
    (tmp_path / "version_000009.tmp").mkdir()
    (tmp_path / "mine.txt").write_text("")
    folders.keep_only({paths[1], None, paths[3]})
    assert names(tmp_path) == {"version_000001", "version_000003", "mine.txt"}
    folders.remove()
    assert not tmp_path.exists()
    folders.remove()


def test_log_probabilities_are_those_of_a_full_pass_and_the_model_stays_in_its_mode():
    model = fresh_model().train()
    model.config.attention_dropout = model.model.layers[0].self_attn.attention_dropout = 0.5
    got = logprobs_of(model, IDS)
    whole = torch.log_softmax(full_logits(IDS), dim=-1)
    assert got == pytest.approx([float(whole[i, token]) for i, token in enumerate(IDS[1:])])
    assert model.training
    assert all(layer.training for layer in model.modules())
