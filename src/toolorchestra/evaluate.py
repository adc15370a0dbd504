"""Evaluates one policy as it is, beside scripted policies and the best possible score."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from omegaconf import DictConfig
from transformers import PreTrainedModel

from toolorchestra.arenas import build_arenas, build_tasks
from toolorchestra.benchmark.config import RANDOM
from toolorchestra.benchmark.contest import Arena, players_of
from toolorchestra.build import (
    build_api_engine,
    build_engine,
    build_providers,
    build_speaker,
    build_stage,
    choices,
)
from toolorchestra.config import EvaluateConfig
from toolorchestra.engine.api import ApiEngine
from toolorchestra.engine.base import PolicyEngine
from toolorchestra.entry.confirm import can_ask, confirm
from toolorchestra.entry.played import deciding
from toolorchestra.estimate import estimate
from toolorchestra.finish import open_records, play_all, show
from toolorchestra.model.policy import load_policy, tiny_tokenizer
from toolorchestra.opening import Opening, opened, use_threads
from toolorchestra.provider.providers import Providers
from toolorchestra.report.closing import RESULTS_FILE, write_summary
from toolorchestra.report.evaluation import POLICY, Evaluation
from toolorchestra.report.measures.attempt import read_attempts
from toolorchestra.report.records import TrialRecords
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.room import check_room
from toolorchestra.worlds import check_worlds

log = logging.getLogger(__name__)


def evaluate(config: DictConfig) -> Path:
    """Plays the policy on the held-out episodes of its benchmark, and documents what came of it.

    Returns:
        The folder with the results.

    Raises:
        ValueError: The config, a file that it names or the machine does not allow it; the message
            says what to do.
    """
    start_s = time.perf_counter()
    with opened(
        config, check=_check, resume=config.resume, identity=deciding, goes_on=True
    ) as opening:
        options, run_dir = opening.options, opening.run_dir
        use_threads(options.num_threads)
        evaluation = _play(opening)
        seconds = time.perf_counter() - start_s
        told = {**choices(options), "policy": options.model.path}
        write_summary(run_dir, told, evaluation, seconds=seconds)
        log.info("done in %d s: %s", seconds, run_dir / RESULTS_FILE)
    return run_dir


def _check(options: EvaluateConfig) -> list[str]:
    if options.benchmark.is_off:
        raise ValueError("benchmark.num_episodes: 0 is not allowed; use at least 2")
    return check_worlds(options)


def _agree(options: EvaluateConfig, arenas: Sequence[Arena], records: TrialRecords) -> None:
    """Tells what is likely to be paid, if anything, and has somebody agree to it if it is much.

    Raises:
        ValueError: Nobody has.
    """
    num_recorded = Counter(result.world for result in records.results)
    num_trials = options.benchmark.num_trials
    left = {
        arena.name: num_trials * len(arena.episodes) * len(players_of(arena, [POLICY]))
        - num_recorded[arena.name]
        for arena in arenas
    }
    num_own = num_trials * sum(len(arena.episodes) for arena in arenas)
    num_played = sum(result.policy == POLICY for result in records.results)
    items = estimate(options, arenas, left, num_policy=num_own - num_played)
    for item in items:
        log.info("likely to be paid: $%.2f for %s", item.usd, item.how)
    confirm(
        sum(item.usd for item in items),
        above_usd=options.confirm_above_usd,
        is_agreed=options.yes,
        ask=input if can_ask() else None,
    )


def _play(opening: Opening[EvaluateConfig]) -> Evaluation:
    options, run_dir = opening.options, opening.run_dir
    providers = build_providers(options, opening.cassette)
    model, speaker, engine = _open_policy(options, run_dir, providers)
    tasks = build_tasks(options, options.heldout)
    # an API counts its tokens itself: what is to have room are the scripted policies beside it
    shown = speaker.chatting() if model is None else speaker
    check_room(options, shown, tasks, split="heldout")
    arenas = build_arenas(options, tasks)
    records = open_records(run_dir, opening.resolved, {POLICY: model})
    _agree(options, arenas, records)
    stage = build_stage(options, speaker, run_dir, opening.cassette, providers)
    with closing(stage):
        try:
            results = play_all(
                arenas,
                {POLICY: model},
                engine=engine,
                stage=stage,
                speaker=speaker,
                records=records,
                options=options.benchmark,
            )
        finally:
            stage.run(engine.close())
    evaluation = Evaluation(
        results=results,
        is_simulated=any(arena.world.is_simulated for arena in arenas),
        subject=POLICY,
        start=None,
        attempts=tuple(read_attempts(run_dir)),
        reference=options.benchmark.reference or RANDOM,
        max_turns=options.rollout.max_turns,
        is_greedy=options.benchmark.is_greedy,
    )
    title = "/".join(Path(options.model.path).parts[-2:])
    show(run_dir, options, evaluation, arenas=arenas, title=title)
    return evaluation


def _open_policy(
    options: EvaluateConfig, run_dir: Path, providers: Providers | None
) -> tuple[PreTrainedModel | None, Speaker, PolicyEngine | ApiEngine]:
    """The weights, where they are here, how the policy is spoken to, and what samples from it."""
    api = options.model.api
    if api is None:
        model, tokenizer = load_policy(options.model)
        speaker = build_speaker(options.model, tokenizer)
        return model, speaker, build_engine(options, model, speaker, run_dir)
    assert providers is not None, "somebody is asked for the policy's messages"
    engine = build_api_engine(options, api, providers)
    return None, build_speaker(options.model, tiny_tokenizer()), engine
