"""How a command ends: policies are played on held-out episodes and shown, a trained one is kept."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from transformers import PreTrainedModel

from toolorchestra.benchmark.config import BenchmarkConfig
from toolorchestra.benchmark.contest import Arena, hold_contest, oracle_frontier, players_of
from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result
from toolorchestra.benchmark.trials import OnPlayed, key_of
from toolorchestra.build import tool_labels
from toolorchestra.codec import fingerprint
from toolorchestra.config import PlayConfig
from toolorchestra.engine.api import ApiEngine
from toolorchestra.engine.base import Engine, PolicyEngine
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.entry.played import deciding
from toolorchestra.entry.run_dir import CONFIG_FILE, PLACE_KEYS
from toolorchestra.model.card import model_card
from toolorchestra.model.export import export_policy
from toolorchestra.model.weights import weights_digest
from toolorchestra.report.closing import RESULTS_FILE, write_pictures, write_tables
from toolorchestra.report.evaluation import Evaluation
from toolorchestra.report.progress import EvaluationProgress
from toolorchestra.report.records import TrialRecords
from toolorchestra.report.shown import NARROW, show_table
from toolorchestra.report.trajectories import EVALUATION_FILE
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.types import Episode

log = logging.getLogger(__name__)

MODEL_FOLDER = "model"
"""In a run's folder: the trained policy."""


def open_records(
    run_dir: Path, resolved: dict[str, Any], models: Mapping[str, PreTrainedModel | None]
) -> TrialRecords:
    """The records of a run's evaluation, with what an earlier try left there.

    Args:
        run_dir: The run's folder.
        resolved: All options as plain data: what decides of them is hashed into each record.
        models: By the names under which results list them; their weights decide too, where they
            are here.

    Raises:
        ValueError: What is there was played otherwise, or is damaged; or a cassette is replayed,
            which answers equal calls of all policies in the order of the recording.
    """
    path = run_dir / EVALUATION_FILE
    if path.exists() and resolved["provider"]["cassette"]["mode"] == "replay":
        raise ValueError(
            f"provider.cassette.mode: replay is not allowed on top of {path}, as a cassette is "
            "replayed from its beginning; move that file away, or use another folder"
        )
    values = deciding(resolved)
    weights = {
        name: "" if model is None else weights_digest(model) for name, model in models.items()
    }
    return TrialRecords(
        path,
        hashes={name: fingerprint(values | {"weights": found}) for name, found in weights.items()},
        default_hash=fingerprint(values),
    )


def play_all(
    arenas: Sequence[Arena],
    models: Mapping[str, PreTrainedModel | None],
    *,
    engine: PolicyEngine | ApiEngine,
    stage: Stage,
    speaker: Speaker,
    records: TrialRecords,
    options: BenchmarkConfig,
) -> tuple[Result, ...]:
    """Plays the models, one after the other, and all baselines; adds the oracle's bound.

    Args:
        arenas: Where to play.
        models: By the names under which results list them; None: that of an API, which has none.
        engine: Samples from each in turn; their order tells their versions apart.
        stage: Plays the episodes.
        speaker: How the models are spoken to; scripted policies always hold a growing chat.
        records: Where each trial is written as it ends; what is there already is not played.
        options: How often to play, and whether the models say what is likeliest.
    """

    def ready(model: PreTrainedModel | None, version: int) -> Engine:
        if model is not None:
            assert not isinstance(engine, ApiEngine), "an API has no weights to load"
            stage.run(engine.load(model, version))
        return engine

    def play(engine: Engine, episodes: Iterable[tuple[Episode, int]], on_played: OnPlayed) -> None:
        is_scripted = isinstance(engine, ScriptedEngine)
        stage.play_each(
            engine,
            episodes,
            is_greedy=options.is_greedy,
            speaker=speaker.chatting() if is_scripted else speaker,
            on_played=on_played,
        )

    with _progress(arenas, models, records, options.num_trials) as display:
        results = hold_contest(
            arenas,
            {name: partial(ready, models[name], version) for version, name in enumerate(models)},
            play=play,
            scripted=lambda policy: ScriptedEngine(
                policy, speaker.tokenizer, end_id=speaker.renderer.end_of_turn_id
            ),
            records=records,
            display=display,
            num_trials=options.num_trials,
        )
    records.put_in_order(key_of(r) for r in results if r.policy != ORACLE_BOUND)
    return tuple(results)


def _progress(
    arenas: Sequence[Arena], models: Iterable[str], records: TrialRecords, num_trials: int
) -> EvaluationProgress:
    known = list(records.results)
    if known:
        log.info("%d trials are recorded already, and are not played again", len(known))
    return EvaluationProgress(
        {
            (policy, arena.name): num_trials * len(arena.episodes)
            for arena in arenas
            for policy in players_of(arena, models)
        },
        known,
        say=log.info,
        console=Console() if sys.stdout.isatty() else None,
    )


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
        for table in write_tables(run_dir, evaluation, tool_labels(options)):
            show_table(table, width=NARROW)


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
