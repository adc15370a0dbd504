"""Prompts that leave no room are refused before anything is played."""

from __future__ import annotations

import dataclasses
import logging
from functools import cache

import pytest
from tests.composed import only, options_of

from toolorchestra.arenas import build_tasks
from toolorchestra.build import build_speaker
from toolorchestra.config import Config
from toolorchestra.dataset.split import Split
from toolorchestra.domain.load import SHIPPED
from toolorchestra.model.policy import load_policy
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.room import NUM_TASKS, check_room

ROOMY = 10_240
"""Tokens that hold the prompt of any shipped domain."""


@cache
def speaker(config_name: str) -> Speaker:
    model = options_of(f"model={config_name}").model
    return build_speaker(model, load_policy(model)[1])


def check(config: Config, split: Split) -> None:
    dataset = config.dataset if split == "train" else config.heldout
    check_room(config, speaker("tiny"), build_tasks(config, dataset), split=split)


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_the_defaults_have_room(split: Split, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    check(options_of(), split)
    assert caplog.text == ""


def test_a_prompt_that_fills_the_context_is_refused_with_what_it_takes_and_what_to_do() -> None:
    config = options_of("dataset=toolscale")
    with pytest.raises(ValueError, match=r"^model.max_context: 640 is not allowed") as caught:
        check(config, "train")
    told = str(caught.value)
    assert "\n" not in told
    assert "in the seen world takes" in told and "; use at least " in told
    needed = int(told.partition("use at least ")[2].split(",")[0])
    assert 4000 < needed < ROOMY
    fits = dataclasses.replace(config.model, max_context=ROOMY)
    check(dataclasses.replace(config, model=fits), "train")


def test_the_tokens_that_are_named_are_enough() -> None:
    config = options_of("dataset=toolscale", f"dataset.domain.weights={only('library')}")
    with pytest.raises(ValueError, match="use at least") as caught:
        check(config, "train")
    needed = int(str(caught.value).partition("use at least ")[2].split(",")[0])
    prompt = needed - config.model.max_new_tokens

    def with_context(tokens: int) -> Config:
        model = dataclasses.replace(config.model, max_context=tokens)
        return dataclasses.replace(config, model=model)

    check(with_context(prompt + 1), "train")
    with pytest.raises(ValueError, match="model.max_context"):
        check(with_context(prompt), "train")


def test_a_prompt_that_no_row_of_training_holds_is_refused_too() -> None:
    config = options_of("dataset=toolscale", f"model.max_context={ROOMY}")
    tasks = build_tasks(config, config.dataset)
    with pytest.raises(
        ValueError, match=f"micro_batch_tokens: 4096 is not allowed.* use at least {ROOMY}"
    ):
        check_room(config, speaker("tiny"), tasks, split="train", row_tokens=4096)
    check_room(config, speaker("tiny"), tasks, split="train", row_tokens=ROOMY)


def test_little_room_is_told_and_allowed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    config = options_of(
        "dataset=toolscale", f"model.max_context={ROOMY}", "model.max_new_tokens=4000"
    )
    check(config, "train")
    assert "leaves a message less than its model.max_new_tokens of 4000" in caplog.text


def test_held_out_tasks_of_the_benchmark_are_looked_at_in_every_world() -> None:
    config = options_of("benchmark=toolscale")
    check(config, "train")
    with pytest.raises(ValueError, match="a task of .* in the toolscale world takes"):
        check(config, "heldout")


def test_a_domain_that_is_seldom_drawn_is_looked_at_too() -> None:
    rare, common = SHIPPED[0], SHIPPED[1]
    asked: list[str] = []
    config = options_of(
        "dataset=toolscale", f"dataset.domain.weights={{{rare}: 1, {common}: 900, courier: 0}}",
        f"model.max_context={ROOMY}",
    )  # fmt: skip
    source = build_tasks(config, config.dataset)

    def watched(index: int, split: Split) -> object:
        task = source(index, split)
        asked.append(task.skill)
        return task

    check_room(config, speaker("tiny"), watched, split="train")  # type: ignore[arg-type]
    assert rare in asked and rare not in asked[:NUM_TASKS]
