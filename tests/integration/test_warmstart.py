"""The command that makes the shipped policy, on a pocket of its demonstrations."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from tests.integration.command import ROOT

from toolorchestra.chat.parse import parse_message
from toolorchestra.engine.policies import call_text, thought_text
from toolorchestra.model.config import ModelConfig
from toolorchestra.model.policy import load_policy

MOST_BYTES = 5_000_000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warmstart") / "tiny"
    overrides = ["num_masks=2", "episodes_per_mask=8", "imitation.num_steps=3"]
    done = subprocess.run(
        [sys.executable, "-m", "toolorchestra.warmstart", f"output_dir={folder}", *overrides],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "step 3/3: loss" in done.stdout
    return folder


def test_it_writes_a_policy_that_is_small_and_can_be_loaded(made):
    assert sum(path.stat().st_size for path in made.iterdir()) < MOST_BYTES
    model, tokenizer = load_policy(ModelConfig(path=str(made)))
    assert model.config.vocab_size >= len(tokenizer)


def test_its_tokenizer_writes_a_call_with_its_thought_in_eight_tokens(made):
    _, tokenizer = load_policy(ModelConfig(path=str(made)))
    text = thought_text("math 5") + call_text("gpt_5")
    ids = tokenizer.encode(text + "<|im_end|>", add_special_tokens=False)
    assert len(ids) == 8
    message = parse_message(tokenizer.decode(ids[:-1]), finish_reason="stop")
    assert (message.thinking, [call.name for call in message.calls]) == ("math 5", ["gpt_5"])


def test_it_has_the_shape_of_the_shipped_one(made):
    def shape(folder):
        told = json.loads((folder / "config.json").read_text())
        return {key: value for key, value in told.items() if key != "vocab_size"}

    shipped = Path(str(files("toolorchestra.model").joinpath("tiny")))
    assert shape(made) == shape(shipped)
