"""Every option of every group composes, alone and with the others, and does so without torch."""

from __future__ import annotations

import dataclasses
import itertools
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random
from typing import cast

import pytest
from omegaconf import OmegaConf
from tests.composed import CONF, composed, names, options_of

from toolorchestra.config import Config, EvaluateConfig
from toolorchestra.worlds import check_worlds

GRID = ("toolset", "pricing", "preference", "reward", "benchmark")
OTHERS = (
    "provider",
    "expert",
    "dataset",
    "model",
    "rollout",
    "user",
    "judge",
    "algorithm",
    "trainer",
    "logger",
    "callbacks",
    "experiment",
)
NEEDED = {
    "dataset=jsonl": ["dataset.path=tasks.jsonl"],
    "dataset=hle": ["dataset.is_heldout=false"],  # it is evaluated on, never trained on
    "dataset=frames": ["dataset.is_heldout=false"],
    "model=orchestrator_8b": ["toolset=upstream", "benchmark.transfer=null"],
    "judge=llm": ["provider=default"],  # some providers do not serve its model
    "user=scripted": ["dataset=toolscale"],
    "user=llm": ["dataset=toolscale"],
}
HEAVY = ("torch", "transformers", "lightning", "wandb", "faiss", "reasoning_gym", "matplotlib")


@cache
def composed_row(groups: tuple[str, ...], index: int) -> Config:
    """The defaults with option number `index` of each of several groups, round and round.

    Composing takes seconds, and groups do not read one another.
    """
    plain = {group: [n for n in names(group) if f"{group}={n}" not in NEEDED] for group in groups}
    return options_of(*(f"{group}={own[index % len(own)]}" for group, own in plain.items()))


@cache
def option(group: str, name: str) -> Config:
    """Defaults that have this option of the group."""
    choice = f"{group}={name}"
    if choice in NEEDED or group == "experiment":  # which chooses options of other groups
        return options_of(choice, *NEEDED.get(choice, []))
    plain = [other for other in names(group) if f"{group}={other}" not in NEEDED]
    groups = GRID if group in GRID else tuple(g for g in OTHERS if g != "experiment")
    return composed_row(groups, plain.index(name))


def combine(choices: dict[str, str]) -> Config:
    """The defaults with one option of each group of the grid."""
    parts = {group: getattr(option(group, name), group) for group, name in choices.items()}
    return dataclasses.replace(option("toolset", "local"), **parts)


def test_the_grid_is_as_wide_as_the_folders() -> None:
    assert [len(names(group)) for group in GRID] == [7, 6, 7, 7, 5]
    groups = {path.name for path in CONF.iterdir() if path.is_dir()}
    others = {"tool", "mcp", "launcher", "server", "retrieval", "hydra"}
    assert groups == {*GRID, *OTHERS, *others}


@pytest.mark.parametrize("benchmark", names("benchmark"))
@pytest.mark.parametrize("toolset", names("toolset"))
def test_every_toolset_pricing_preference_reward_and_benchmark_go_together(
    toolset: str, benchmark: str
) -> None:
    for pricing, preference, reward in itertools.product(*map(names, GRID[1:4])):
        values = (toolset, pricing, preference, reward, benchmark)
        config = combine(dict(zip(GRID, values, strict=True)))
        for note in check_worlds(config):
            assert "world: " in note or "need a user who acts" in note
        assert tuple(getattr(config, group).name for group in GRID) == values


@pytest.mark.parametrize("seed", range(3))
def test_options_that_were_composed_apart_equal_those_composed_together(seed: int) -> None:
    rng = Random(seed)
    choices = {group: rng.choice(names(group)) for group in GRID}
    together = options_of(*(f"{group}={name}" for group, name in choices.items()))
    assert together == combine(choices)


@pytest.mark.parametrize(("group", "name"), [(g, n) for g in OTHERS for n in names(g)])
def test_every_option_of_every_other_group_composes(
    group: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("OPENAI", "ANTHROPIC", "TOGETHER", "TAVILY"):  # judges, users, real experts
        monkeypatch.setenv(f"{owner}_API_KEY", "set")
    config = option(group, name)
    check_worlds(config)
    chosen = getattr(config, group)
    if group != "callbacks":
        assert chosen.name == name


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("pricing.missing=refuse", "toolset=unseen", "pricing=alt"), "o3"),
        (
            (
                "toolset.min_tools=9",
                "toolset.max_tools=11",
                "pricing.missing=mask",
                "pricing.draw=[nebius]",
            ),
            "tools with",
        ),
        (
            ("+preference.pairs={mine: {instruction: Go., tools: {gpt_9: 1}}}",),
            "preference.pairs.mine.tools: 'gpt_9'",
        ),
    ],
)
def test_what_does_not_go_together_fails_with_one_sentence(
    overrides: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        check_worlds(options_of(*overrides))
    assert "\n" not in str(caught.value) and "; use " in str(caught.value)


def test_the_released_orchestrator_composes_with_the_originals_tools() -> None:
    choices = ("model=orchestrator_8b", "toolset=upstream", "benchmark.is_greedy=false")
    options = cast(EvaluateConfig, OmegaConf.to_object(composed(*choices, command="evaluate")))
    assert not any("masked" in note for note in check_worlds(options))
    assert (options.model.protocol, options.rollout.max_turns) == ("upstream", 50)
    fronts = options.toolset.fronts
    assert [(name, len(front.aliases)) for name, front in fronts.items()] == [
        ("enhance_reasoning", 3),
        ("answer", 6),
        ("search", 3),
    ]


def test_the_command_line_shows_a_config_without_loading_anything_heavy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "train.py"]
        + ["--cfg", "job", "toolset=unseen", "pricing=alt", f"output_root={tmp_path}"],
        cwd=CONF.parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert "claude_opus_4_1:" in done.stdout and "name: alt" in done.stdout
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "hydra" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert list(tmp_path.iterdir()) == []
