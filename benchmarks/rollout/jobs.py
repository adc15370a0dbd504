"""What is run, and the ratios that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.rollout.workload import CONSTANT_S, LATENCIES, MEAN_S, P99_S, SCALE

Measured = Mapping[str, Mapping[str, float]]
"""The figures of each job of one repetition, by the job's key."""

QUICK = {"overlap": "0.002", "scale": "0.01"}
"""Of the smoke test: a decode step of the stand-in, and the scale of heavy latencies."""
COUNTED = ("rows", "calls", "sampled", "tokens")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A script to run in a process of its own."""

    key: str
    script: str
    arguments: tuple[str, ...]
    is_repeated: bool = True


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One row of the table: a ratio of two figures of one repetition."""

    label: str
    over: Callable[[Measured], tuple[float, float]]
    """Both sides: the ratio is the first over the second."""
    unit: str


def make_jobs(*, is_quick: bool, has_vllm: bool) -> list[Job]:
    """All jobs of one repetition; sides that are compared follow one another."""
    engines = ("transformers", "vllm") if has_vllm else ("transformers",)
    groups = ("--groups", "1") if is_quick else ()
    scale = ("--scale", QUICK["scale"]) if is_quick else ()
    jobs = []
    for kind in LATENCIES:
        told = ("--latency", kind, *groups, *scale)
        jobs.append(Job(key=f"peer/{kind}", script="trl_peer", arguments=told))
        jobs += [
            Job(key=f"{name}/{kind}", script="ours", arguments=(*told, "--engine", name))
            for name in engines
        ]
    steps = ("--steps", "2", "--step-s", QUICK["overlap"]) if is_quick else ()
    for name in ("standin", *engines[1:]):
        told = ("--engine", name, *groups, *scale, *steps)
        jobs.append(Job(key=f"overlap/{name}", script="overlap", arguments=told))
    for name in ("generate", *engines):
        told = ("--engine", name, *groups)
        jobs.append(Job(key=f"tokens/{name}", script="tokens_per_second", arguments=told))
    for staleness in ("0", "1"):
        for steps_played in ("2", "8"):
            told = ("--staleness", staleness, "--steps", steps_played, *groups)
            key = f"memory/{staleness}/{steps_played}"
            jobs.append(Job(key=key, script="memory", arguments=told, is_repeated=False))
    return jobs


def make_figures(*, has_vllm: bool) -> list[Figure]:
    """All rows of the table, in its order."""
    engines = ("transformers", "vllm") if has_vllm else ("transformers",)
    figures = []
    for name in engines:
        figures += [_over_peer(name, kind) for kind in LATENCIES]
    for name in engines:
        figures += [_over_limit(name, kind) for kind in LATENCIES]
        figures += [_over_compute(name, kind) for kind in LATENCIES if kind != "none"]
    for name in ("standin", *engines[1:]):
        figures += _overlaps(name)
    figures += [_tokens(name, "generate", "`generate`") for name in engines]
    if has_vllm:
        figures.append(_tokens("vllm", "transformers", "the embedded engine"))
    for staleness in ("0", "1"):
        figures.append(_growth(staleness))
    return figures


def check_alike(measured: Measured) -> None:
    """Sees to it that both sides played the same.

    Raises:
        RuntimeError: If numbers of rows, calls or tokens differ.
    """
    for key, figures in measured.items():
        name, _, kind = key.partition("/")
        if name in ("transformers", "vllm"):
            peer = measured[f"peer/{kind}"]
            pairs = {what: (figures[what], peer[what]) for what in COUNTED}
            if any(mine != its for mine, its in pairs.values()):
                raise RuntimeError(f"{key} and the peer played different things: {pairs}")


def _said(kind: str) -> str:
    heavy = f"heavy tail (mean {SCALE * MEAN_S:g} s, p99 {SCALE * P99_S:g} s)"
    return {"none": "no latency", "constant": f"{1000 * CONSTANT_S:g} ms", "heavy": heavy}[kind]


def _engine(name: str) -> str:
    return {
        "transformers": "embedded engine",
        "vllm": "vLLM worker",
        "standin": "stand-in; engine and update only wait",
    }[name]


def _over_peer(name: str, kind: str) -> Figure:
    return Figure(
        label=f"Rollout time, {_said(kind)}: TRL over ours ({_engine(name)})",
        over=lambda m: (m[f"peer/{kind}"]["rollout_s"], m[f"{name}/{kind}"]["rollout_s"]),
        unit="s",
    )


def _over_limit(name: str, kind: str) -> Figure:
    return Figure(
        label=f"Rollout time, {_said(kind)}: ours over the slowest rollout alone ({_engine(name)})",
        over=lambda m: (m[f"{name}/{kind}"]["rollout_s"], m[f"{name}/{kind}"]["limit_s"]),
        unit="s",
    )


def _over_compute(name: str, kind: str) -> Figure:
    return Figure(
        label=f"Rollout time, {_said(kind)}: ours over all 64 without latency and then the slowest "
        f"one's tools ({_engine(name)})",
        over=lambda m: (
            m[f"{name}/{kind}"]["rollout_s"],
            m[f"{name}/none"]["rollout_s"] + m[f"{name}/{kind}"]["limit_tools_s"],
        ),
        unit="s",
    )


def _overlaps(name: str) -> list[Figure]:
    key, who = f"overlap/{name}", _engine(name)
    waits = "" if name == "standin" else "; the update only waits"
    return [
        Figure(
            label=f"Step time, heavy tail: staleness 1 over 0, wanted at most 0.6 ({who}{waits})",
            over=lambda m: (m[key]["step_s_1"], m[key]["step_s_0"]),
            unit="s",
        ),
        Figure(
            label=f"Idle share of the engine, heavy tail: staleness 1 over 0 ({who}{waits})",
            over=lambda m: (m[key]["idle_share_1"], m[key]["idle_share_0"]),
            unit="",
        ),
    ]


def _tokens(name: str, other: str, against: str) -> Figure:
    return Figure(
        label=f"Tokens a second, 64 prompts at once: {_engine(name)} over {against}",
        over=lambda m: (m[f"tokens/{name}"]["tokens_per_s"], m[f"tokens/{other}"]["tokens_per_s"]),
        unit="/s",
    )


def _growth(staleness: str) -> Figure:
    many, few = f"memory/{staleness}/8", f"memory/{staleness}/2"
    return Figure(
        label=f"Peak memory of the pool, staleness {staleness}: four times as many rollouts over "
        "a quarter of them",
        over=lambda m: (m[many]["growth_mib"], m[few]["growth_mib"]),
        unit="MiB",
    )
