"""Runs all of it, each side in a process of its own, and writes the table of `README.md`.

python -m benchmarks.update            # from the repository's root; about forty minutes
python -m benchmarks.update --quick    # a smoke test; writes nothing into README.md
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.rollout.jobs import Job, Measured
from benchmarks.rollout.table import insert, render
from benchmarks.update.jobs import ALIKE, make_figures, make_jobs
from benchmarks.update.side import check_gradients
from benchmarks.update.workload import SIZES, load

README = Path(__file__).with_name("README.md")
ROOT = Path(__file__).parents[2]
RAW = ROOT / "outputs" / "benchmarks" / "update.jsonl"
"""Every figure of every job, as it came."""
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}
DENSE = ("whole_s", "split_s")
"""Both ways of the dense batch: at once, and in parts."""
PACKAGES = ("torch", "transformers", "lightning", "trl")

Run = Callable[[Job], dict[str, float]]


def run(job: Job) -> dict[str, float]:
    """Runs one job and reads its last line.

    Raises:
        RuntimeError: If it fails; the message ends with what it said.
    """
    command = [sys.executable, "-m", f"benchmarks.update.{job.script}", *job.arguments]
    ended = subprocess.run(
        command, cwd=ROOT, env=os.environ | QUIET, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{ended.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def make_workloads(folder: Path, names: Sequence[str], *, is_quick: bool, run: Run) -> None:
    """Makes the rows that all sides share, once."""
    for name in names:
        (folder / name).mkdir()
        quick = ("--quick",) if is_quick else ()
        arguments = (str(folder / name), "--name", name, *quick)
        print(f"workload {name}: {run(Job(key=name, script='workload', arguments=arguments))}")


def measure(
    jobs: Sequence[Job], repeats: int, *, run: Run, check: Callable[[], object]
) -> list[Measured]:
    """Runs all jobs `repeats` times, in turns, so that a slow hour slows all sides.

    Args:
        jobs: In the order in which they run.
        repeats: How often.
        run: Runs one.
        check: Called after each repetition; raises if two sides did not make the same update.
    """
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
                line = {"job": job.key, "repeat": repeat, **measured[job.key]}
                raw.write(json.dumps(line) + "\n")
                raw.flush()
                print(
                    f"repetition {repeat + 1} of {repeats}, {number} of {len(jobs)}: {job.key} "
                    f"({took_s:.0f} s) {measured[job.key]}",
                    flush=True,
                )
            check()
            repetitions.append(measured)
    return list(repetitions)


def check_all(folders: Mapping[str, Path]) -> dict[str, dict[str, float]]:
    """How far the sides' gradients are apart, by workload; raises where that is too far."""
    return {name: check_gradients(load(folder), ALIKE) for name, folder in folders.items()}


def make_notes(
    repetitions: Sequence[Measured],
    apart: Mapping[str, Mapping[str, float]],
    arguments: Sequence[str],
) -> list[str]:
    """The command, the machine, and what the ratios leave out."""
    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    command = " ".join(["python -m benchmarks.update", *arguments])
    notes = [
        f"`{command}`, {len(repetitions)} repetitions (memory: one), {os.cpu_count()} cores; "
        f"{found}; commit {_commit()}."
    ]
    first = repetitions[0]
    for name, distances in apart.items():
        limit = first[f"{name}/limit"]
        computed = ", ".join(f"{side} {first[f'{name}/{side}']['computed']:.0f}" for side in ALIKE)
        ways = [median(m[f"{name}/limit"][way] for m in repetitions) for way in DENSE]
        notes.append(
            f"{name}: {limit['row_tokens']:.0f} tokens in all rows, {limit['unique']:.0f} of them "
            f"distinct, {limit['loss_tokens']:.0f} with a loss; computed by {computed}. Dense "
            f"batch: {limit['dense_rows']:.0f} rows of {limit['dense_length']:.0f} in "
            f"{ways[0]:.3g} s at once, {ways[1]:.3g} s in {limit['micro_batches']:.0f} parts. "
            f"Gradients are at most {max(distances.values()):.0e} of their length apart."
        )
    return notes


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints the table, and writes it down unless this is the smoke test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a smoke test of all scripts")
    parser.add_argument("--repeats", type=int, help="default: 5, quick 1")
    parser.add_argument("--threads", type=int, default=0, help="torch's; 0: all cores")
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(arguments)
    repeats = options.repeats or (1 if options.quick else 5)
    with TemporaryDirectory(prefix="toolorchestra-bench-") as folder:
        table = make_table(
            Path(folder),
            tuple(SIZES),
            is_quick=options.quick,
            repeats=repeats,
            threads=options.threads,
            arguments=arguments,
        )
    print(table)
    if not options.quick:
        README.write_text(insert(README.read_text(encoding="utf-8"), table), encoding="utf-8")


def make_table(
    folder: Path,
    names: Sequence[str],
    *,
    is_quick: bool,
    repeats: int,
    threads: int = 0,
    has_head: bool = True,
    arguments: Sequence[str] = (),
    run: Run = run,
) -> str:
    """Measures the workloads named, and renders what came of it."""
    make_workloads(folder, names, is_quick=is_quick, run=run)
    folders = {name: folder / name for name in names}
    jobs = make_jobs(folders, is_quick=is_quick, threads=threads, has_head=has_head)
    repetitions = measure(jobs, repeats, run=run, check=partial(check_all, folders))
    notes = make_notes(repetitions, check_all(folders), arguments)
    return render(make_figures(names, has_head=has_head), repetitions, notes)


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
