"""The one place that composes: from a config to a trained, measured and documented policy."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import torch
from hydra.core.hydra_config import HydraConfig
from hydra.utils import instantiate
from lightning import seed_everything
from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from transformers import PreTrainedModel
from transformers.utils.logging import disable_progress_bar

from toolorchestra.benchmark.contest import Arena, hold_contest, oracle_frontier
from toolorchestra.build import (
    build_arenas,
    build_engine,
    build_module,
    build_sampler,
    build_speaker,
    build_tools,
    choices,
    tool_labels,
)
from toolorchestra.config import Config
from toolorchestra.dataset.source import make_source
from toolorchestra.engine.base import Engine
from toolorchestra.engine.scripted import ScriptedEngine
from toolorchestra.launch.followers import Followers
from toolorchestra.launch.plainly import keeping_traceback
from toolorchestra.launch.quiet import quieten_libraries
from toolorchestra.launch.run_dir import discard_if_empty, open_run_dir
from toolorchestra.model.policy import load_policy
from toolorchestra.report.closing import RESULTS_FILE, write_pictures, write_summary, write_tables
from toolorchestra.report.evaluation import START, TRAINED, Evaluation
from toolorchestra.report.recorder import Recorder, open_journal
from toolorchestra.report.tracking import Tracker
from toolorchestra.rollout.group import Played
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.pool import Pool
from toolorchestra.trainer.collect import Collector, ScoredGroup, Scorer, StepData
from toolorchestra.trainer.fit import checkpoints_of, first_step, fit
from toolorchestra.trainer.strategy import check_trainer, uses_gpu
from toolorchestra.types import Episode
from toolorchestra.worlds import check_worlds

log = logging.getLogger(__name__)

WIDTH = 120
"""Columns of a table where nobody's terminal says how many there are."""


def train(config: DictConfig) -> Path:
    """Trains, evaluates and documents one run, or resumes one that was broken off.

    Returns:
        The run's folder.

    Raises:
        ValueError: The config, a file that it names or the machine does not allow the run; the
            message says what to do.
    """
    resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    try:
        options = cast(Config, OmegaConf.to_object(config))
        notes = check_worlds(options)
        check_trainer(options.trainer, dtype=options.model.dtype)
        run_dir, claimed = open_run_dir(
            Path(options.output_dir),
            resolved,
            resume=options.resume,
            config_text=OmegaConf.to_yaml(OmegaConf.create(resolved)),
        )
    except ValueError:
        discard_if_empty(Path(resolved["output_dir"]))
        raise
    with claimed, keeping_traceback(run_dir):
        for note in notes:
            log.info(note)
        log.info("writing to %s", run_dir)
        quieten_libraries()  # again, as Lightning sets its own level when it is loaded
        disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(options.trainer.num_threads or os.cpu_count() or 1)
        seed_everything(options.seed, verbose=False)
        with _Run(options, resolved, run_dir) as run:
            run.fit()
            run.finish()
    return run_dir


class _Run:
    """The objects of one run."""

    def __init__(self, options: Config, resolved: dict[str, Any], run_dir: Path) -> None:
        self._options, self._run_dir = options, run_dir
        self._start_s = time.perf_counter()
        self._model, tokenizer = load_policy(options.model)
        self._checkpoints = checkpoints_of(
            run_dir, options.trainer, model=self._model.config, dtype=options.model.dtype
        )
        self._resume_from = self._checkpoints.newest()
        start = first_step(self._resume_from)
        journal = open_journal(run_dir, first_step=start)
        self._tasks = make_source(options.dataset, seed=options.seed)
        # DeepSpeed's weights, and a GPU's, are not here: what samples from them here has a copy
        is_elsewhere = options.trainer.strategy == "deepspeed" or uses_gpu(options.trainer)
        self._trained = load_policy(options.model)[0] if is_elsewhere else self._model
        self._sampled = self._model if options.rollout.engine == "vllm" else self._trained
        self._speaker = build_speaker(options.model, tokenizer)
        self._engine = build_engine(options, self._sampled, self._speaker, run_dir)
        with ExitStack() as stack:
            self._stage = stack.enter_context(closing(self._build_stage()))
            stack.callback(lambda: self._stage.run(self._engine.close()))
            self._tracker = _start_tracker(options, resolved, run_dir)
            stack.push(self._finish_tracker)
            self._closing = stack.pop_all()
        self._recorder = Recorder(
            journal,
            self._tracker,
            first_step=start,
            max_steps=options.trainer.max_steps,
            trajectories_per_step=options.logger.trajectories_per_step,
            say=log.info,
        )

    def __enter__(self) -> _Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.__exit__(kind, error, trace)

    def _finish_tracker(self, kind: type[BaseException] | None, *_: object) -> None:
        self._tracker.finish(exit_code=0 if kind is None else 1)

    def _build_stage(self) -> Stage:
        options = self._options
        return Stage(
            tools=build_tools(options),
            speaker=self._speaker,
            config=options.rollout,
            max_new_tokens=options.model.max_new_tokens,
            max_context=options.model.max_context,
        )

    def fit(self) -> None:
        """Trains up to the last step."""
        options = self._options
        if options.trainer.max_steps == 0:
            return
        pool = self._build_pool()
        self.source = Collector(pool, run=self._stage.run, rest=self._engine.rest)
        module = build_module(options, self._model, outside=self)
        try:
            with Followers(self._run_dir, num_ranks=options.trainer.devices):
                fit(
                    module,
                    options.trainer,
                    dtype=options.model.dtype,
                    checkpoints=self._checkpoints,
                    resume_from=self._resume_from,
                    callbacks=map(instantiate, options.callbacks.values()),
                )
        finally:
            self._stage.run(pool.close())

    def finish(self) -> None:
        """Evaluates, writes tables and pictures, and marks the run as done."""
        options = self._options
        arenas = build_arenas(options, self._tasks) if options.benchmark.num_episodes else []
        is_simulated = any(map(options.toolset.is_simulated, options.toolset.tools))
        evaluation = self._evaluate(arenas) if arenas else None
        write_pictures(
            self._run_dir,
            evaluation,
            title=f"{options.experiment.name}, seed {options.seed}",
            frontier=oracle_frontier(arenas[0]) if arenas else [],
            is_simulated=is_simulated,
        )
        if evaluation is not None:
            console = Console(width=None if sys.stdout.isatty() else WIDTH)
            for table in write_tables(self._run_dir, evaluation, tool_labels(options)):
                console.print(table.to_rich())
        seconds = time.perf_counter() - self._start_s
        write_summary(self._run_dir, choices(options), evaluation, seconds=seconds)
        shown = self._run_dir / RESULTS_FILE if evaluation is not None else self._run_dir
        log.info("done in %d s: %s", seconds, shown)

    def _build_pool(self) -> Pool[ScoredGroup]:
        options = self._options
        return Pool(
            sample_episode=build_sampler(
                options, options.toolset, options.pricing, self._tasks, "train"
            ),
            play=lambda episode: self._stage.play_group(
                self._engine, episode, group_size=options.algorithm.group_size, is_greedy=False
            ),
            settle=Scorer(reward=options.reward, algorithm=options.algorithm),
            groups_per_step=options.trainer.episodes_per_step,
            max_staleness=options.rollout.max_staleness,
            max_replacements=options.rollout.max_replacements,
        )

    def take_weights(self, version: int) -> Mapping[str, float]:
        """Has the engine sample from the weights as they are; see `Outside`."""
        if self._sampled is not self._model:
            self._sampled.load_state_dict(self._model.state_dict())
        return self._stage.run(self._engine.load(self._sampled, version))

    def needs_weights(self) -> bool:
        """After a step that was dropped or skipped, and so has updated nothing."""
        return self._engine.is_resting

    def record(self, step: int, data: StepData, metrics: dict[str, float]) -> None:
        """Writes down a step."""
        self._recorder.record(step, data.groups, metrics)

    def take_result(self) -> None:
        """Keeps the trained weights where evaluation finds them."""
        if self._trained is not self._model:
            self._trained.load_state_dict(self._model.state_dict())

    def _evaluate(self, arenas: Sequence[Arena]) -> Evaluation:
        start, _ = load_policy(self._options.model)
        results = hold_contest(
            arenas,
            {
                START: partial(self._sample, start, 0),
                TRAINED: partial(self._sample, self._trained, 1),
            },
            play=self._play_once,
            scripted=lambda policy: ScriptedEngine(
                policy, self._speaker.tokenizer, end_id=self._speaker.renderer.end_of_turn_id
            ),
            tell=log.info,
        )
        is_simulated = any(arena.world.is_simulated for arena in arenas)
        return Evaluation(results=tuple(results), is_simulated=is_simulated)

    def _sample(self, model: PreTrainedModel, version: int) -> Engine:
        """The engine, sampling from other weights than before; `version` tells them apart."""
        self._stage.run(self._engine.load(model, version))
        return self._engine

    def _play_once(self, engine: Engine, episodes: Sequence[Episode]) -> list[Played]:
        return self._stage.play(engine, episodes, group_size=1, is_greedy=True)


def _start_tracker(options: Config, resolved: dict[str, Any], run_dir: Path) -> Tracker:
    logger = options.logger
    overrides = HydraConfig.get().job.override_dirname if HydraConfig.initialized() else ""
    return Tracker.start(
        run_dir,
        resolved,
        mode=logger.mode,
        project=logger.project,
        group=options.experiment.name,
        name=logger.run_name or f"{overrides or 'defaults'} seed={options.seed}",
        job_type="train",
        entity=logger.entity,
        tags=logger.tags,
    )
