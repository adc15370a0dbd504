"""The model card: its head is YAML that the hub reads, its code runs, its text names no folders."""

import contextlib
import io

import pytest
import yaml
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer
from tests.unit.engine.tiny_model import tiny_model

from toolorchestra.model.card import model_card
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.export import export_policy

CONFIG = "seed: 1\nmodel:\n  path: Qwen/Qwen3-8B\n"
RESULTS = "**seen world: 12 held-out episodes**\n\n| policy | utility |\n| --- | --: |\n"


def parts(card):
    """Head as an object, and body."""
    nothing, head, body = card.split("---\n", 2)
    assert nothing == ""
    return yaml.safe_load(head), body


def blocks(body, language):
    return [part.partition("```")[0] for part in body.split(f"```{language}\n")[1:]]


def test_the_head_names_the_library_the_task_and_the_base_model():
    head, body = parts(model_card(ModelConfig(path="Qwen/Qwen3-8B"), config=CONFIG))
    assert head["library_name"] == "transformers"
    assert head["pipeline_tag"] == "text-generation"
    assert head["base_model"] == "Qwen/Qwen3-8B"
    assert body.startswith("\n# An orchestrator trained from Qwen/Qwen3-8B\n")


@pytest.mark.parametrize(
    ("path", "origin"),
    [("tiny", "ToolOrchestra's tiny policy"), ("{folder}/mine", "the local model mine")],
)
def test_what_is_not_on_the_hub_is_no_base_model_and_folders_stay_private(tmp_path, path, origin):
    (tmp_path / "mine").mkdir()
    card = model_card(ModelConfig(path=path.format(folder=tmp_path)), config="seed: 1")
    head, body = parts(card)
    assert "base_model" not in head
    assert f"trained from {origin}\n" in body
    assert str(tmp_path) not in card


def test_the_tables_and_the_whole_config_are_in_it():
    _, body = parts(model_card(ModelConfig(), config=CONFIG, results=RESULTS))
    assert f"\n## Results\n\n{RESULTS.strip()}\n\n## How it was trained\n" in body
    (config,) = blocks(body, "yaml")
    assert yaml.safe_load(config) == {"seed": 1, "model": {"path": "Qwen/Qwen3-8B"}}
    assert "## Results" not in model_card(ModelConfig(), config=CONFIG)


def test_the_commands_are_told_with_the_options_that_the_policy_needs():
    model = ModelConfig(name="qwen3_8b", dtype="bfloat16")
    _, body = parts(model_card(model, config=CONFIG))
    assert blocks(body, "sh") == [
        "vllm serve FOLDER --dtype bfloat16\n",
        "python evaluate.py model=qwen3_8b model.path=FOLDER\n",
    ]


def test_the_code_runs_with_quotes_and_braces_in_the_system_prompt(tmp_path):
    config = ModelConfig(system_prompt='Say "yes" to {{all}} of\nit.', max_new_tokens=4)
    card = model_card(config, config=CONFIG)
    export_policy(
        tiny_model(), qwen_tokenizer(), tmp_path / "model", config=config, end_id=2, card=card
    )
    (code,) = blocks(card, "python")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code.replace("FOLDER", str(tmp_path / "model")), {})
    assert 'system\nSay "yes" to {{all}} of\nit.<|im_end|>' in out.getvalue()
    assert out.getvalue().count("assistant\n") >= 1
