"""Plays the workload through the project's own loop, and measures it against its limit.

The limit is the slowest rollout's own serial time: its tools' latencies, and its generation when
it is played alone through the same engine. No scheduling of the others can be faster.

    python -m benchmarks.rollout.ours --latency heavy --engine vllm
"""

from __future__ import annotations

import argparse
import time

from benchmarks.rollout.actors import BATCH_WAIT_S, Sleeper, counts, make_stage, play
from benchmarks.rollout.engines import make_engine
from benchmarks.rollout.figures import add_common, begin, tell
from benchmarks.rollout.workload import (
    GROUP_SIZE,
    LATENCIES,
    NUM_CALLS,
    SCALE,
    build_model,
    latency_s,
)
from toolorchestra.engine.base import PolicyEngine
from toolorchestra.rollout.player import Stage

NUM_ALONE = 3
"""Times that the slowest rollout is played alone; the fastest counts, as it is a limit."""


def serial_s(kind: str, row: int, scale: float) -> float:
    """What a rollout's tools take, one after the other."""
    return sum(latency_s(kind, row, turn, scale=scale) for turn in range(NUM_CALLS))


def timed(stage: Stage, engine: PolicyEngine, **rows: int) -> tuple[float, dict[str, int]]:
    """Seconds to play rows, and what was played."""
    start_s = time.perf_counter()
    rollouts = play(stage, engine, **rows)
    return time.perf_counter() - start_s, dict(counts(rollouts))


def main() -> None:
    """Warms up, plays the slowest rollout alone, then plays all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--latency", choices=LATENCIES, default="none")
    parser.add_argument("--scale", type=float, default=SCALE, help="of heavy latencies")
    parser.add_argument("--engine", choices=("transformers", "vllm"), default="transformers")
    parser.add_argument("--batch-wait-s", type=float, help="default: by latency")
    add_common(parser)
    options = begin(parser)
    num_rows, kind = options.groups * GROUP_SIZE, options.latency
    wait_s = options.batch_wait_s or BATCH_WAIT_S[kind]
    model, tool = build_model(), Sleeper("none", scale=options.scale)
    stage = make_stage(tool, max_concurrent=num_rows)
    with make_engine(options.engine, model, num_rows=num_rows, batch_wait_s=wait_s) as engine:
        try:
            # each load empties what the engine remembers of earlier plays
            stage.run(engine.load(model, 0))
            timed(stage, engine, num_groups=options.groups)
            slowest = max(range(num_rows), key=lambda row: serial_s(kind, row, options.scale))
            alone_s = []
            for version in range(1, NUM_ALONE + 1):
                stage.run(engine.load(model, version))
                one = {"num_groups": 1, "group_size": 1, "first_row": slowest}
                alone_s.append(timed(stage, engine, **one)[0])
            stage.run(engine.load(model, NUM_ALONE + 1))
            tool.kind = kind
            rollout_s, played = timed(stage, engine, num_groups=options.groups)
        finally:
            stage.run(engine.close())
            stage.close()
    tools_s, generate_s = serial_s(kind, slowest, options.scale), min(alone_s)
    tell(
        rollout_s=rollout_s,
        limit_s=tools_s + generate_s,
        limit_tools_s=tools_s,
        limit_generate_s=generate_s,
        **played,
    )


if __name__ == "__main__":
    main()
