"""How a command ends: policies are played on held-out episodes and shown, a trained one is kept."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from transformers import PreTrainedModel

from toolorchestra.benchmark.contest import Arena, hold_contest, oracle_frontier
from toolorchestra.benchmark.evaluate import Result
from toolorchestra.build import tool_labels
from toolorchestra.config import PlayConfig
from toolorchestra.engine.api import ApiEngine
from toolorchestra.engine.base import Engine, PolicyEngine
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.entry.run_dir import CONFIG_FILE, PLACE_KEYS
from toolorchestra.model.card import model_card
from toolorchestra.model.export import export_policy
from toolorchestra.report.closing import RESULTS_FILE, write_pictures, write_tables
from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.trajectories import EVALUATION_FILE, TrialLog
from toolorchestra.rollout.group import Played
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.types import Episode

log = logging.getLogger(__name__)

MODEL_FOLDER = "model"
"""In a run's folder: the trained policy."""
WIDTH = 120
"""Columns of a table where nobody's terminal says how many there are."""


def play_all(
    arenas: Sequence[Arena],
    models: Mapping[str, PreTrainedModel | None],
    *,
    engine: PolicyEngine | ApiEngine,
    stage: Stage,
    speaker: Speaker,
    run_dir: Path,
    is_greedy: bool,
) -> tuple[Result, ...]:
    """Plays the models, one after the other, and all baselines; adds the oracle's bound.

    Args:
        arenas: Where to play.
        models: By the names under which results list them; None: that of an API, which has none.
        engine: Samples from each in turn; their order tells their versions apart.
        stage: Plays the episodes.
        speaker: How the models are spoken to; scripted policies always hold a growing chat.
        is_greedy: Whether the models say what is likeliest.
        run_dir: Where every rollout is written to in full.
    """

    def ready(model: PreTrainedModel | None, version: int) -> Engine:
        if model is not None:
            assert not isinstance(engine, ApiEngine), "an API has no weights to load"
            stage.run(engine.load(model, version))
        return engine

    def play(engine: Engine, episodes: Sequence[Episode]) -> list[Played]:
        is_scripted = isinstance(engine, ScriptedEngine)
        return stage.play(
            engine,
            episodes,
            group_size=1,
            is_greedy=is_greedy,
            speaker=speaker.chatting() if is_scripted else speaker,
        )

    results = hold_contest(
        arenas,
        {name: partial(ready, models[name], version) for version, name in enumerate(models)},
        play=play,
        scripted=lambda policy: ScriptedEngine(
            policy, speaker.tokenizer, end_id=speaker.renderer.end_of_turn_id
        ),
        tell=log.info,
        keep=TrialLog(run_dir / EVALUATION_FILE).write,
    )
    return tuple(results)


def show(
    run_dir: Path,
    options: PlayConfig,
    evaluation: Evaluation | None,
    *,
    arenas: Sequence[Arena],
    title: str,
) -> None:
    """Writes tables and pictures of what there is, and prints the main tables."""
    write_pictures(
        run_dir,
        evaluation,
        title=f"{title}, seed {options.seed}",
        frontier=oracle_frontier(arenas[0]) if arenas and arenas[0].world.is_known else [],
        is_simulated=any(map(options.toolset.is_simulated, options.toolset.tools)),
        shown_as=tool_labels(options),
    )
    if evaluation is not None:
        console = Console(width=None if sys.stdout.isatty() else WIDTH)
        for table in write_tables(run_dir, evaluation, tool_labels(options)):
            console.print(table.to_rich())


def keep_policy(
    run_dir: Path, options: PlayConfig, model: PreTrainedModel, speaker: Speaker
) -> Path:
    """Writes the trained policy to the run's folder, once its tables are written.

    Returns:
        A folder that transformers, vLLM and `evaluate.py` load as it is.

    Raises:
        ValueError: The disk is full, or nothing can be written there.
    """
    asked = OmegaConf.load(run_dir / CONFIG_FILE)
    assert isinstance(asked, DictConfig)
    results = run_dir / RESULTS_FILE
    return export_policy(
        model,
        speaker.tokenizer,
        run_dir / MODEL_FOLDER,
        config=options.model,
        end_id=speaker.renderer.end_of_turn_id,
        card=model_card(
            options.model,
            config=OmegaConf.to_yaml({k: v for k, v in asked.items() if k not in PLACE_KEYS}),
            results=results.read_text(encoding="utf-8") if results.exists() else "",
        ),
    )
