"""The one place that composes: from a config to a trained, measured and documented policy."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from hydra.utils import instantiate
from omegaconf import DictConfig

from toolorchestra.arenas import build_arenas, build_heldout, build_tasks
from toolorchestra.benchmark.contest import Arena
from toolorchestra.build import (
    build_engine,
    build_module,
    build_sampler,
    build_speaker,
    build_stage,
    choices,
)
from toolorchestra.config import Config
from toolorchestra.entry.stop import StopFile
from toolorchestra.finish import keep_policy, open_records, play_all, show
from toolorchestra.launch.job.followers import Followers
from toolorchestra.model.policy import load_policy
from toolorchestra.opening import Opening, opened, use_threads
from toolorchestra.report.closing import RESULTS_FILE, write_summary
from toolorchestra.report.evaluation import START, TRAINED, Evaluation
from toolorchestra.report.measures.attempt import read_attempts
from toolorchestra.report.recorder import Recorder, open_journal
from toolorchestra.report.tracking import Tracker
from toolorchestra.report.trajectories import EVALUATION_FILE
from toolorchestra.rollout.pool import Pool
from toolorchestra.room import check_room
from toolorchestra.trainer.collect import Collector, ScoredGroup, Scorer, StepData
from toolorchestra.trainer.fit import checkpoints_of, first_step, fit
from toolorchestra.trainer.strategy import check_trainer, uses_gpu
from toolorchestra.worlds import check_worlds

log = logging.getLogger(__name__)


def train(config: DictConfig) -> Path:
    """Trains, evaluates and documents one run, or resumes one that was broken off.

    Returns:
        The run's folder.

    Raises:
        ValueError: The config, a file that it names or the machine does not allow the run; the
            message says what to do.
        Stopped: It was asked to, and ended after a step.
    """
    with opened(config, check=_check, resume=config.resume) as opening:
        trainer = opening.options.trainer
        use_threads(trainer.num_threads, num_processes=trainer.devices)
        with _Run(opening) as run:
            run.fit()
            run.obey()
            run.finish()
    return opening.run_dir


def _check(options: Config) -> list[str]:
    if options.launcher.kind != "serial":
        raise ValueError(
            f"launcher.kind: {options.launcher.kind!r} would run here and now; choose launcher="
            f"{options.launcher.kind} as a whole, and leave hydra.mode and hydra/launcher to it"
        )
    check_trainer(options.trainer, dtype=options.model.dtype)
    return check_worlds(options)


class _Run:
    """The objects of one run."""

    def __init__(self, opening: Opening[Config]) -> None:
        options, run_dir = opening.options, opening.run_dir
        self._options, self._run_dir, self._resolved = options, run_dir, opening.resolved
        self._stop = StopFile(run_dir)
        self._start_s = time.perf_counter()
        self._model, tokenizer = load_policy(options.model)
        self._checkpoints = checkpoints_of(
            run_dir, options.trainer, model=self._model.config, dtype=options.model.dtype
        )
        self._resume_from = self._checkpoints.newest()
        start = first_step(self._resume_from)
        journal = open_journal(run_dir, first_step=start)
        if start < options.trainer.max_steps:  # another policy will be evaluated than in any before
            (run_dir / EVALUATION_FILE).unlink(missing_ok=True)
        self._tasks = build_tasks(options, options.dataset)
        self._heldout = build_heldout(options, self._tasks)
        # DeepSpeed's weights, and a GPU's, are not here: what samples from them here has a copy
        is_elsewhere = options.trainer.strategy == "deepspeed" or uses_gpu(options.trainer)
        self._trained = load_policy(options.model)[0] if is_elsewhere else self._model
        self._sampled = self._model if options.rollout.engine == "vllm" else self._trained
        self._speaker = build_speaker(options.model, tokenizer)
        self._check_room()
        self._engine = build_engine(options, self._sampled, self._speaker, run_dir)
        with ExitStack() as stack:
            built = build_stage(options, self._speaker, run_dir, opening.cassette)
            self._stage = stack.enter_context(closing(built))
            stack.callback(lambda: self._stage.run(self._engine.close()))
            self._tracker = _start_tracker(options, opening.resolved, run_dir)
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

    def fit(self) -> None:
        """Trains up to the last step."""
        options = self._options
        if options.trainer.max_steps == 0:
            return
        pool = self._build_pool()
        self.source = Collector(pool, run=self._stage.run, rest=self._engine.rest)
        module = build_module(options, self._model, outside=self)
        try:
            trainer = options.trainer
            with Followers(self._run_dir, num_ranks=trainer.num_ranks, num_nodes=trainer.num_nodes):
                fit(
                    module,
                    options.trainer,
                    dtype=options.model.dtype,
                    checkpoints=self._checkpoints,
                    resume_from=self._resume_from,
                    is_to_stop=self._is_to_stop,
                    callbacks=map(instantiate, options.callbacks.values()),
                )
        finally:
            self._stage.run(pool.close())

    def obey(self) -> None:
        """Leaves the run where it was asked to stop, or has paid all it may; see `Stopped`."""
        self._stage.spending.check()
        self._stop.obey()

    def _is_to_stop(self) -> bool:
        """Looked at after each step, before its checkpoint."""
        return self._stage.spending.is_over or self._stop.is_there()

    def finish(self) -> None:
        """Evaluates, writes tables, pictures and the policy, and marks the run as done."""
        options = self._options
        arenas = [] if options.benchmark.is_off else build_arenas(options, self._heldout)
        evaluation = self._evaluate(arenas) if arenas else None
        title = options.experiment.name
        show(self._run_dir, options, evaluation, arenas=arenas, title=title)
        if options.trainer.max_steps > 0:
            kept = keep_policy(self._run_dir, options, self._trained, self._speaker)
            log.info("the policy: %s", kept)
        seconds = time.perf_counter() - self._start_s
        write_summary(self._run_dir, choices(options), evaluation, seconds=seconds)
        shown = self._run_dir / RESULTS_FILE if evaluation is not None else self._run_dir
        log.info("done in %d s: %s", seconds, shown)

    def _check_room(self) -> None:
        options = self._options
        if options.trainer.max_steps > 0:
            check_room(
                options,
                self._speaker,
                self._tasks,
                split="train",
                row_tokens=options.trainer.micro_batch_tokens,
            )
        if not options.benchmark.is_off:
            check_room(options, self._speaker, self._heldout, split="heldout")

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
        models = {START: load_policy(self._options.model)[0], TRAINED: self._trained}
        results = play_all(
            arenas,
            models,
            engine=self._engine,
            stage=self._stage,
            speaker=self._speaker,
            records=open_records(self._run_dir, self._resolved, models),
            options=self._options.benchmark,
        )
        is_simulated = any(arena.world.is_simulated for arena in arenas)
        return Evaluation(
            results=results,
            is_simulated=is_simulated,
            subject=TRAINED,
            start=START,
            attempts=tuple(read_attempts(self._run_dir)),
            reference=self._options.benchmark.reference or START,
            max_turns=self._options.rollout.max_turns,
            is_greedy=self._options.benchmark.is_greedy,
        )


def _group(options: Config) -> str:
    """What gathers runs in W&B: a sweep, or all runs of an experiment that were begun alone."""
    name = options.experiment.name
    hydra = HydraConfig.get() if HydraConfig.initialized() else None
    is_sweep = hydra is not None and hydra.mode == RunMode.MULTIRUN
    return f"{name} {Path(hydra.sweep.dir).name}" if hydra and is_sweep else name


def _start_tracker(options: Config, resolved: dict[str, Any], run_dir: Path) -> Tracker:
    logger = options.logger
    words = HydraConfig.get().job.override_dirname.split(",") if HydraConfig.initialized() else []
    asked = [word for word in words if word and not word.startswith("seed=")]
    return Tracker.start(
        run_dir,
        resolved,
        mode=logger.mode,
        project=logger.project,
        group=os.environ.get("WANDB_RUN_GROUP") or _group(options),
        name=logger.run_name or f"{' '.join(asked) or 'defaults'} seed={options.seed}",
        job_type="train",
        entity=logger.entity,
        tags=logger.tags,
    )
