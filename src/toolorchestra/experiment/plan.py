"""Which runs of the local world have to be made: what several tables share is made once.

A run's key is a digest of its resolved config and of the keys of the runs that it builds on. A
result that was kept under another key is stale. A change of code alone does not make it so: the
commit that made a result stands in its file.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolorchestra.codec import fingerprint
from toolorchestra.experiment.declared import ITSELF, Experiment, Run
from toolorchestra.experiment.extract import read_extract
from toolorchestra.report.comparison import SUMMARY

SCALES: dict[str, dict[str, tuple[str, ...]]] = {
    "full": {},
    "tiny": {
        "train": (
            "trainer.max_steps=1",
            "trainer.episodes_per_step=2",
            "benchmark.num_episodes=2",
        ),
        "evaluate": ("benchmark.num_episodes=2",),
    },
}
"""By scale and command: words that end every command line. At `tiny` everything is tried once."""

_WHERE_GIVEN = "benchmark.transfer.num_episodes"
"""At `tiny` it is 2 where a command line sets it; elsewhere there may be no such world."""

Digest = Callable[[str, Sequence[str]], str]
"""Of the config that a command composes from its words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """Where what is kept of a run goes."""

    experiment: str
    run: str
    path: Path


@dataclass(kw_only=True, slots=True)
class Job:
    """A run, made once for all that need it."""

    key: str
    run_dir: Path
    command: str
    words: list[str]
    minutes: float
    after: list[str]
    """Keys of the jobs whose folders it reads."""
    start: str
    """Key of the job of the starting policy, or nothing."""
    needs: str
    results: list[Result] = field(default_factory=list)

    @property
    def name(self) -> str:
        """For people: the first that needs it."""
        return f"{self.results[0].experiment}/{self.results[0].run}"

    @property
    def is_finished(self) -> bool:
        """Whether its folder holds a finished run."""
        return (self.run_dir / SUMMARY).exists()

    @property
    def is_possible(self) -> bool:
        """Whether this installation has what it needs."""
        return not self.needs or importlib.util.find_spec(self.needs) is not None

    @property
    def stale(self) -> list[Result]:
        """Those that are missing, or were made by another config."""
        return [item for item in self.results if not _is_kept(item.path, self.key)]


def _is_kept(path: Path, key: str) -> bool:
    return path.exists() and read_extract(path).key == key


def local_folder(experiment: Experiment, out: Path | None) -> Path:
    """Where tables of the local world go; `out`: in place of the experiment's own folder."""
    home = experiment.home if out is None else out / experiment.name
    return home / "local"


def run_file(folder: Path, run: str) -> Path:
    """Where the results of a run are kept below a folder of `local_folder`."""
    return folder / "runs" / f"{run}.json"


def plan(
    experiments: Sequence[Experiment],
    *,
    digest: Digest,
    scale: str,
    root: Path,
    out: Path | None = None,
) -> dict[str, Job]:
    """All jobs by key, each after those that it builds on.

    Args:
        experiments: What was declared.
        digest: Of the config that a command composes.
        scale: A key of SCALES.
        root: Below it lie the folders of the runs.
        out: Where results go in place of the experiments' folders; None: there.

    Raises:
        ValueError: A result that was kept is damaged, or a config does not compose.
    """
    jobs: dict[str, Job] = {}
    seen: dict[tuple[str, ...], str] = {}
    for experiment in experiments:
        keys: dict[str, str] = {}
        for name, run in experiment.local.runs.items():
            words = [*run.resolved(keys), *_last_words(run, scale)]
            told = (run.command, *words, keys.get(run.relative_to, run.relative_to))
            if told not in seen:  # composing takes a second
                seen[told] = _key(digest(run.command, words), keys, run)
            key = keys[name] = seen[told]
            if key not in jobs:
                jobs[key] = _job(key, run, keys, scale=scale, root=root)
            path = run_file(local_folder(experiment, out), name)
            result = Result(experiment=experiment.name, run=name, path=path)
            jobs[key].results.append(result)
    return jobs


def _last_words(run: Run, scale: str) -> list[str]:
    words = list(SCALES[scale].get(run.command, ()))
    if words and any(word.startswith(f"{_WHERE_GIVEN}=") for word in run.words):
        words.append(f"{_WHERE_GIVEN}=2")
    return words


def _key(digest: str, keys: dict[str, str], run: Run) -> str:
    is_start = run.relative_to == ITSELF
    return fingerprint([run.command, digest, [keys[name] for name in run.after], is_start])


def _job(key: str, run: Run, keys: dict[str, str], *, scale: str, root: Path) -> Job:
    folders = {name: str(root / other) for name, other in keys.items()}
    return Job(
        key=key,
        run_dir=root / key,
        command=run.command,
        words=[*run.resolved(folders), *_last_words(run, scale)],
        minutes=run.minutes,
        after=[keys[name] for name in run.after],
        start=key if run.relative_to == ITSELF else keys.get(run.relative_to, ""),
        needs=run.needs,
    )


def to_make(jobs: dict[str, Job]) -> list[Job]:
    """The jobs with a stale result, and those that they build on whose folder is gone."""
    needed: set[str] = set()
    for key in reversed(jobs):  # whatever builds on others stands after them
        job = jobs[key]
        if job.is_possible and (key in needed or job.stale):
            needed |= {key, *(k for k in job.after if not jobs[k].is_finished)}
    return [job for key, job in jobs.items() if key in needed]
