"""What is run, and the ratios that are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.rollout.jobs import Figure, Job, Measured
from benchmarks.update.head import FITTING, TOKENS, by_arithmetic
from benchmarks.update.workload import SIZES

SIDES = {
    "ours": ("ours", ()),
    "packed": ("ours", ("--packed",)),
    "padded": ("padded", ()),
    "peer": ("trl_peer", ()),
    "limit": ("limit", ()),
}
"""The script of each side, and its flags."""
ALIKE = ("ours", "packed", "padded", "peer")
"""Sides that make the same update."""
HEADS = (
    *(("naive", tokens) for tokens in FITTING),
    *(("chunked", tokens) for tokens in (*FITTING, TOKENS)),
)
QUICK_SHARE = 16
"""Of the smoke test: one in so many tokens."""


def make_jobs(
    folders: dict[str, Path], *, is_quick: bool, threads: int, has_head: bool = True
) -> list[Job]:
    """All jobs of one repetition; sides that are compared follow one another.

    Args:
        folders: Of the workloads, by name.
        is_quick: Whether this is a smoke test.
        threads: Of torch, on all sides; 0: all cores.
        has_head: Whether the output layer's memory is measured too.
    """
    told = ("--threads", str(threads))
    updates = ("--updates", "1" if is_quick else "3")
    jobs = []
    for way, tokens in HEADS if has_head else ():
        count = str(tokens // QUICK_SHARE if is_quick else tokens)
        size = ("--way", way, "--tokens", count, *told)
        key = f"head/{way}/{tokens}"
        jobs.append(Job(key=key, script="head", arguments=size, is_repeated=False))
    jobs += [
        Job(key=f"{name}/{side}", script=script, arguments=(str(folder), *told, *updates, *flags))
        for name, folder in folders.items()
        for side, (script, flags) in SIDES.items()
    ]
    return jobs


def make_figures(names: Sequence[str], *, has_head: bool = True) -> list[Figure]:
    """All rows of the table, in its order."""
    figures = [figure for name in names for figure in _updates(name)]
    return figures + (_heads() if has_head else [])


def _updates(name: str) -> list[Figure]:
    said = {"local": "local world", "paper": f"paper's lengths × {SIZES['paper'].scale:g}"}[name]
    return [
        _times(name, f"Update time, {said}: TRL over ours, wanted at least 3", "peer", "ours"),
        _times(name, f"Update time, {said}: padded rows over ours", "padded", "ours"),
        _times(name, f"Update time, {said}: packed rows over ours", "packed", "ours"),
        _times(
            name,
            f"Update time, {said}: ours over one dense batch of the same operations, wanted at "
            "most 1.5",
            "ours",
            "limit",
        ),
        Figure(
            label=f"Tokens computed, {said}: ours over distinct prefixes of the step, wanted at "
            "most 1.05",
            over=lambda m: (m[f"{name}/ours"]["computed"], m[f"{name}/limit"]["unique"]),
            unit="",
        ),
        Figure(
            label=f"Operations a second, {said}: ours over the fastest matrix product",
            over=lambda m: (
                m[f"{name}/limit"]["flops"] / m[f"{name}/ours"]["update_s"] / 1e9,
                m[f"{name}/limit"]["peak_flops"] / 1e9,
            ),
            unit="GFLOP/s",
        ),
        Figure(
            label=f"Tokens of rows a second, {said}: ours over TRL",
            over=lambda m: (_speed(m, name, "ours"), _speed(m, name, "peer")),
            unit="/s",
        ),
    ]


def _times(name: str, label: str, one: str, other: str) -> Figure:
    return Figure(
        label=label,
        over=lambda m: (m[f"{name}/{one}"]["update_s"], m[f"{name}/{other}"]["update_s"]),
        unit="s",
    )


def _speed(measured: Measured, name: str, side: str) -> float:
    return measured[f"{name}/limit"]["row_tokens"] / measured[f"{name}/{side}"]["update_s"]


def _heads() -> list[Figure]:
    less, more = FITTING

    def whole(measured: Measured) -> float:
        return by_arithmetic(
            measured[f"head/naive/{less}"],
            measured[f"head/naive/{more}"],
            round(measured[f"head/chunked/{TOKENS}"]["tokens"]),
        )

    said = "Peak memory of the output layer"
    return [
        Figure(
            label=f"{said}, {more} tokens: all logits at once over chunks",
            over=lambda m: (
                m[f"head/naive/{more}"]["growth_mib"],
                m[f"head/chunked/{more}"]["growth_mib"],
            ),
            unit="MiB",
        ),
        Figure(
            label=f"{said}, {TOKENS} tokens: all logits at once (by arithmetic) over chunks",
            over=lambda m: (whole(m), m[f"head/chunked/{TOKENS}"]["growth_mib"]),
            unit="MiB",
        ),
        Figure(
            label=f"{said}, chunks: {TOKENS} tokens over {more}",
            over=lambda m: (
                m[f"head/chunked/{TOKENS}"]["growth_mib"],
                m[f"head/chunked/{more}"]["growth_mib"],
            ),
            unit="MiB",
        ),
    ]
