"""Judges the recorded rollouts of an evaluation anew; no policy and no tool is called."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from toolorchestra.benchmark.evaluate import ORACLE_BOUND, Result, Trial, result_of
from toolorchestra.benchmark.trials import TrialKey, key_of
from toolorchestra.codec import fingerprint, from_json
from toolorchestra.command.words import options_of, split
from toolorchestra.config import RescoreConfig
from toolorchestra.domain.goal import ANSWER_KIND
from toolorchestra.entry.confirm import can_ask, confirm
from toolorchestra.entry.played import deciding, first_difference
from toolorchestra.entry.run_dir import hold
from toolorchestra.estimate import judging
from toolorchestra.judge.base import Judge, judge_rollout
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.judge.registry import build_judge
from toolorchestra.parties import check_judge
from toolorchestra.provider.providers import Providers
from toolorchestra.report.closing import RESULTS_LINES, write_tables
from toolorchestra.report.evaluation import START, TRAINED, Evaluation
from toolorchestra.report.files import replace_text
from toolorchestra.report.records import TrialRecords
from toolorchestra.report.rescored import Changes, Twice, changed_lines
from toolorchestra.report.shown import show_table
from toolorchestra.report.trajectories import EVALUATION_FILE, read_trials
from toolorchestra.rollout.group import all_or_none

FOLDER = "rescored"
"""In a run's folder: one folder for each other judge."""

JUDGE_FILE = "judge.json"
"""In each of these: what decides of the judge."""


@dataclass(kw_only=True, slots=True)
class _Seen:
    """What is kept of an evaluation as it is read: no rollouts."""

    keys: list[TrialKey]
    labels: dict[str, str]
    """How tables show each tool."""
    num_to_judge: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Says what `report.py rescore` takes, and that `run` does it."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="RUN_DIR | KEY=VALUE",
        help="the folder of an evaluation; judge=llm, or any other option of conf/judge; name=NAME "
        f"of the folder below {FOLDER}/ where all of it goes",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judges, prints and writes what came of it; returns the exit status.

    Raises:
        ValueError: There is no evaluation to judge, or the judge cannot be asked.
        TooManyUnscored: The judge fails too often; the same command goes on.
    """
    run_dirs, overrides = split(arguments.words)
    if len(run_dirs) != 1:
        raise ValueError(f"report.py rescore: {len(run_dirs)} folders are given; use one run's")
    advice = "judge=NAME, judge.KEY=VALUE or name=NAME"
    options = cast(RescoreConfig, options_of("rescore", overrides, advice=advice))
    check_judge(options.judge, options.pricing, options.provider)
    source = run_dirs[0] / EVALUATION_FILE
    if not source.exists():
        raise ValueError(f"{run_dirs[0]} holds no {EVALUATION_FILE}; use an evaluation's folder")
    out = run_dirs[0] / FOLDER / (options.name or _name(options.judge))
    name = _taken(out, options.judge)
    held = hold(out / JUDGE_FILE)
    if held is None:
        raise ValueError(f"name: another process is still at work in {out}; wait or stop it")
    with held:
        records = TrialRecords(out / EVALUATION_FILE, hashes={}, default_hash=name)
        seen = _look(source, records)
        _agree(options, seen)
        asyncio.run(_judge_all(options, source, records))
        records.put_in_order(seen.keys)
        _show(run_dirs[0], out, records, seen)
    return 0


def _name(judge: JudgeConfig) -> str:
    model = re.sub(r"[^\w.-]+", "_", judge.model)
    return f"{judge.name}_{model}" if model else judge.name


def _taken(out: Path, judge: JudgeConfig) -> str:
    """The hash of what decides of a judge; the folder belongs to it from now on.

    Raises:
        ValueError: It belongs to another judge.
    """
    values = deciding({"judge": asdict(judge)})
    path = out / JUDGE_FILE
    if path.exists():
        then = json.loads(path.read_text(encoding="utf-8"))
        if found := first_difference(then, values):
            raise ValueError(
                f"name: {out.name} is not allowed, as another judge has judged there ({found}); "
                "use another name=NAME"
            )
    else:
        replace_text(path, json.dumps(values, indent=1, ensure_ascii=False) + "\n")
    return fingerprint(values)


def _look(source: Path, records: TrialRecords) -> _Seen:
    """What there is, and how much of it is to be judged yet."""
    seen = _Seen(keys=[], labels={})
    for trial in _read(source):
        key = key_of(trial.result)
        seen.keys.append(key)
        seen.labels |= {tool.name: tool.shown_as for tool in trial.episode.tools}
        seen.num_to_judge += _is_judged(trial) and records.find(key, trial.episode) is None
    return seen


def _read(source: Path) -> Iterator[Trial]:
    return read_trials(source, skip_truncated_last_line=True)


def _is_judged(trial: Trial) -> bool:
    """Whether a judge has a say: not where a rollout is void, nor where a domain verifies it."""
    return trial.rollout.status != "void" and trial.episode.task.answer_kind != ANSWER_KIND


def _agree(options: RescoreConfig, seen: _Seen) -> None:
    item = judging(options.judge, options.pricing, options.provider, seen.num_to_judge)
    print(f"{seen.num_to_judge} of {len(seen.keys)} trials are to be judged", flush=True)
    if item is None or options.provider.cassette.mode == "replay":
        return
    print(f"likely to be paid: ${item.usd:.2f} for {item.how}", flush=True)
    confirm(
        item.usd,
        above_usd=options.confirm_above_usd,
        is_agreed=options.yes,
        ask=input if can_ask() else None,
    )


async def _judge_all(options: RescoreConfig, source: Path, records: TrialRecords) -> None:
    """Judges what is not judged yet, some at a time, and writes each down at once."""
    providers = Providers(options.provider) if options.judge.kind == "llm" else None
    judge = build_judge(options.judge, options.pricing, providers)
    left = (t for t in _read(source) if records.find(key_of(t.result), t.episode) is None)

    async def work() -> None:
        for trial in left:
            records.write(await _judged(judge, trial))

    try:
        await all_or_none([work() for _ in range(options.judge.max_concurrent)])
    finally:
        await judge.close()
        if providers is not None:
            await providers.close()


async def _judged(judge: Judge, trial: Trial) -> Trial:
    """The trial as this judge sees it; what the other one cost is no cost of this one's."""
    if not _is_judged(trial):
        return trial
    ledger = tuple(entry for entry in trial.rollout.ledger if entry.kind != "judge")
    rollout = replace(trial.rollout, ledger=ledger)
    rollout, verdict = await judge_rollout(judge, trial.episode.task, rollout)
    old = trial.result
    result = result_of(old.policy, old.world, trial.episode, rollout, verdict)
    return replace(trial, result=result, rollout=rollout, verdict=verdict)


def _show(run_dir: Path, out: Path, records: TrialRecords, seen: _Seen) -> None:
    """Writes and prints the tables of an evaluation, and what has changed."""
    results = [*_in_order(records, seen), *_bounds(run_dir)]
    policies = list(dict.fromkeys(result.policy for result in results))
    is_trained = TRAINED in policies
    evaluation = Evaluation(
        results=tuple(results),
        is_simulated=any(label.startswith("sim/") for label in seen.labels.values()),
        subject=TRAINED if is_trained else policies[0],
        start=START if is_trained and START in policies else None,
    )
    tables = write_tables(out, evaluation, seen.labels)
    changes = Changes()
    for twice in _twice(run_dir, out):
        changes.take(twice)
    table = changes.table()
    replace_text(out / "changes.md", table.to_markdown())
    replace_text(out / "changes.csv", table.to_csv())
    replace_text(out / "changed.jsonl", "".join(changed_lines(_twice(run_dir, out))))
    for shown in (*tables, table):
        show_table(shown)
    print(f"kept in {out}", flush=True)


def _in_order(records: TrialRecords, seen: _Seen) -> list[Result]:
    found = {key_of(result): result for result in records.all_results}
    return [found[key] for key in seen.keys]


def _twice(run_dir: Path, out: Path) -> Iterator[Twice]:
    """Each trial before and after; both files have the same order."""
    pairs = zip(_read(run_dir / EVALUATION_FILE), _read(out / EVALUATION_FILE), strict=True)
    return (Twice(before=before, after=after) for before, after in pairs)


def _bounds(run_dir: Path) -> list[Result]:
    """The oracle's bound, which no judge has a say in, where the evaluation came to its end."""
    path = run_dir / RESULTS_LINES
    if not path.exists():
        return []
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [from_json(Result, line) for line in lines if line.get("policy") == ORACLE_BOUND]
