"""What sampling ahead saves: the step time at staleness 1 over that at 0, under the heavy tail.

The pool keeps its groups in flight; the update is a wait of as long as the engine takes for a
step's messages without tools. So is, with the stand-in, the generation: see `standin_server`.
Groups that get too old are given up by the pool, and their share is told too.

    python -m benchmarks.rollout.overlap --engine standin
"""

from __future__ import annotations

import argparse
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from benchmarks.rollout.actors import ScriptedOver, Sleeper, check, make_episode, make_stage, play
from benchmarks.rollout.engines import make_engine
from benchmarks.rollout.figures import add_common, begin, tell
from benchmarks.rollout.standin import StandinEngine
from benchmarks.rollout.workload import GROUP_SIZE, SCALE, build_model
from toolorchestra.engine.base import Completion, Engine, PolicyEngine, Request
from toolorchestra.rollout.group import Played
from toolorchestra.rollout.player import Stage
from toolorchestra.rollout.pool import Pool

STEP_S = 0.02
"""A decode step of the stand-in with 64 rows: 120 of them are a step's messages."""
NUM_FIRST = 2
"""Steps that fill the pool, and are not counted."""


class Meter:
    """An engine whose time with at least one request in it is counted."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._num_inside, self._since_s = engine, 0, 0.0
        self._busy_s = 0.0

    @property
    def version(self) -> int:
        """Weight version in use."""
        return self._engine.version

    @version.setter
    def version(self, value: int) -> None:
        raise AttributeError("only the engine beneath knows its version")

    @property
    def busy_s(self) -> float:
        """Seconds until now in which somebody asked."""
        return self._busy_s + (time.perf_counter() - self._since_s if self._num_inside else 0.0)

    @asynccontextmanager
    async def rollout(self, session: str) -> AsyncIterator[None]:
        """What the engine keeps for one rollout."""
        async with self._engine.rollout(session):
            yield

    async def generate(self, request: Request) -> Completion:
        """Samples one message, on the clock."""
        if self._num_inside == 0:
            self._since_s = time.perf_counter()
        self._num_inside += 1
        try:
            return await self._engine.generate(request)
        finally:
            self._num_inside -= 1
            if self._num_inside == 0:
                self._busy_s += time.perf_counter() - self._since_s


@dataclass(frozen=True)
class Kept:
    """A played group that every filter would keep."""

    played: Played
    is_kept: bool = True


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the steps of one setting took."""

    step_s: float
    idle_share: float
    """Of the time in which nobody asked the engine for anything."""
    stale_share: float
    """Of the groups: given up as too old, over all that ended or were given up."""


@contextmanager
def make_any_engine(name: str, *, num_rows: int, step_s: float) -> Iterator[PolicyEngine]:
    """The stand-in, or an engine that samples."""
    if name == "standin":
        yield StandinEngine(step_s=step_s)
    else:
        with make_engine(name, build_model(), num_rows=num_rows) as engine:
            yield engine


def train(
    stage: Stage, engine: PolicyEngine, *, staleness: int, groups: int, steps: int, update_s: float
) -> Run:
    """Takes a step's groups, waits as long as an update would, loads, and so on."""
    meter, model = Meter(engine), build_model()
    scripted = ScriptedOver(meter)
    pool = Pool(
        sample_episode=lambda index: make_episode(index * GROUP_SIZE),
        play=lambda item: stage.play_group(scripted, item, group_size=GROUP_SIZE, is_greedy=False),
        settle=Kept,
        groups_per_step=groups,
        max_staleness=staleness,
        max_replacements=0,
    )
    start_s = busy_s = 0.0
    num_stale = 0
    for step in range(NUM_FIRST + steps):
        if step == NUM_FIRST:
            start_s, busy_s, num_stale = time.perf_counter(), meter.busy_s, 0
        batch = stage.run(pool.take(engine.version))
        num_stale += batch.num_stale
        check([rollout for group in batch.groups for rollout in group.played.rollouts])
        time.sleep(update_s)
        stage.run(engine.load(model, engine.version + 1))
    whole_s = time.perf_counter() - start_s
    busy_s = meter.busy_s - busy_s
    stage.run(pool.close())
    return Run(
        step_s=whole_s / steps,
        idle_share=1 - busy_s / whole_s,
        stale_share=num_stale / (num_stale + steps * groups),
    )


def main() -> None:
    """Measures how long a step's messages take, then trains at both settings."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", choices=("standin", "vllm"), default="standin")
    parser.add_argument("--steps", type=int, default=8, help="counted steps")
    parser.add_argument("--scale", type=float, default=SCALE, help="of heavy latencies")
    parser.add_argument("--step-s", type=float, default=STEP_S, help="of the stand-in")
    add_common(parser)
    options = begin(parser)
    num_rows = 2 * options.groups * GROUP_SIZE
    tool = Sleeper("none", scale=options.scale)
    stage = make_stage(tool, max_concurrent=num_rows)
    with make_any_engine(options.engine, num_rows=num_rows, step_s=options.step_s) as engine:
        try:
            stage.run(engine.load(build_model(), 0))
            play(stage, engine, num_groups=1)
            stage.run(engine.load(build_model(), 1))
            begun_s = time.perf_counter()
            play(stage, engine, num_groups=options.groups)
            update_s = time.perf_counter() - begun_s
            tool.kind = "heavy"
            runs = []
            for staleness in (0, 1):
                stage.run(engine.load(build_model(), engine.version + 1))
                run = train(
                    stage,
                    engine,
                    staleness=staleness,
                    groups=options.groups,
                    steps=options.steps,
                    update_s=update_s,
                )
                runs.append(run)
        finally:
            stage.run(engine.close())
            stage.close()
    tell(
        update_s=update_s,
        **{f"step_s_{i}": run.step_s for i, run in enumerate(runs)},
        **{f"idle_share_{i}": run.idle_share for i, run in enumerate(runs)},
        stale_share_1=runs[1].stale_share,
    )


if __name__ == "__main__":
    main()
