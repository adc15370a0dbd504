"""What `experiment.yaml` of a folder of `experiments/` declares.

One file a folder says which runs a table needs and which figure of which run stands where, so that
a table is added by adding a folder. experiments/README.md shows how.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

FILE = "experiment.yaml"
ITSELF = "itself"
COMMANDS = ("train", "evaluate")
MEASURES = (
    "accuracy", "utility", "cents", "seconds", "minutes", "malformed", "relative", "calls",
    "share", "gain",
)  # fmt: skip
PICTURES = ("shares", "costs")
_NAME = re.compile(r"[a-z0-9_]+")
_PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)\}")


@dataclass(kw_only=True)
class Run:
    """A command of the local world."""

    command: str
    """train or evaluate."""
    words: list[str]
    """Its command line; {other} stands for the folder of the run of that name."""
    minutes: float
    """What it is reckoned to take on one core, evaluation included."""
    needs: str = ""
    """A package that not every installation has; without it the run is left out, and said to be."""
    relative_to: str = ""
    """The run of the starting policy, on the same episodes, for the measure `relative`; `itself`
    where this is it."""

    @property
    def after(self) -> list[str]:
        """Names of the runs that have to be there before."""
        named = [name for word in self.words for name in _PLACEHOLDER.findall(word)]
        start = [] if self.relative_to in ("", ITSELF) else [self.relative_to]
        return list(dict.fromkeys([*named, *start]))

    def resolved(self, folders: Mapping[str, str]) -> list[str]:
        """Its words, with a folder for every {name}."""
        return [_PLACEHOLDER.sub(lambda m: folders[m[1]], word) for word in self.words]


@dataclass(kw_only=True)
class Column:
    """A figure of every row."""

    name: str
    measure: str
    digits: int = 1
    skills: list[str] = field(default_factory=list)
    """Episodes of these skills alone; none: all."""
    worlds: list[str] = field(default_factory=list)
    """Where it is measured, a benchmark for one; of several, the mean over them. None: the only
    world of the run."""
    tool: str = ""
    """Of the measures `calls` and `share`."""


@dataclass(kw_only=True)
class Row:
    """A policy in a run of the local world."""

    label: str
    run: str
    policy: str
    group: str = ""
    reference: str = ""
    """The run that the measure `gain` compares this one with, paired by episode."""


@dataclass(kw_only=True)
class Local:
    """The local world's variant."""

    note: str
    """What it stands for, and what it does not show."""
    runs: dict[str, Run]
    columns: list[Column]
    rows: list[Row]
    header: list[str] = field(default_factory=lambda: ["tools", "policy"])
    """What groups and rows are."""
    picture: str = ""
    """`shares`: calls of each tool as shares, a bar a row; `costs`: accuracy over cost, a line a
    group of rows."""


@dataclass(kw_only=True)
class Real:
    """The real thing: its commands, and which run belongs to which row of the paper."""

    commands: list[str]
    columns: list[Column] = field(default_factory=list)
    """Named like the paper's."""
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    """By the paper's row, "group / row" where it has groups: the options of its runs, as
    summary.json has them, e.g. {model: qwen3_8b, toolset: paper}."""


@dataclass(kw_only=True)
class Experiment:
    """A folder of `experiments/`."""

    title: str
    claim: str
    local: Local
    real: Real
    paper: str = ""
    """The file with the paper's figures; none: the paper has no such table."""
    header: list[str] = field(default_factory=lambda: ["tools", "orchestrator"])
    """What its groups and rows are."""
    folder: str = ""
    """Where it was read."""

    @property
    def home(self) -> Path:
        """Its folder."""
        return Path(self.folder)

    @property
    def name(self) -> str:
        """Its folder's name."""
        return self.home.name


def is_experiment(folder: Path) -> bool:
    """Whether a folder declares an experiment."""
    return (folder / FILE).is_file()


def find_experiments(folder: Path) -> list[Experiment]:
    """The experiment of a folder, or those of the folders in it, in order of their names.

    Raises:
        ValueError: There is none, or one is not allowed.
    """
    if is_experiment(folder):
        return [read_experiment(folder)]
    inside = sorted(path.parent for path in folder.glob(f"*/{FILE}"))
    if not inside:
        raise ValueError(f"{folder} holds no {FILE}; use experiments, or a folder of it")
    return [read_experiment(path) for path in inside]


def read_experiment(folder: Path) -> Experiment:
    """Reads what a folder declares.

    Raises:
        ValueError: The file cannot be read, or a name in it stands for nothing; names file and key.
    """
    path = folder / FILE
    try:
        merged = OmegaConf.merge(OmegaConf.structured(Experiment), OmegaConf.load(path))
        experiment = cast(Experiment, OmegaConf.to_object(merged))
    except (yaml.YAMLError, OmegaConfBaseException) as error:
        raise ValueError(f"{path}: {str(error).partition('full_key')[0].strip()}") from error
    experiment.folder = str(folder)
    for key, value, allowed in _faults(experiment):
        raise ValueError(f"{path}: {key}: {value!r} is not allowed; use {allowed}")
    return experiment


def _faults(experiment: Experiment) -> Iterator[tuple[str, str, str]]:
    """Key, value and what is allowed, of everything that is wrong."""
    local, real = experiment.local, experiment.real
    above: list[str] = []
    for name, run in local.runs.items():
        key = f"local.runs.{name}"
        if not _NAME.fullmatch(name):
            yield key, name, "small letters, digits and _"
        if run.command not in COMMANDS:
            yield f"{key}.command", run.command, " or ".join(COMMANDS)
        for other in run.after:
            if other not in above:
                yield key, other, "the name of a run above it"
        above.append(name)
    for row in local.rows:
        for other in filter(None, (row.run, row.reference)):
            if other not in local.runs:
                yield f"local.rows ({row.label})", other, ", ".join(local.runs)
    for column in (*local.columns, *real.columns):
        if column.measure not in MEASURES:
            yield f"columns ({column.name}).measure", column.measure, ", ".join(MEASURES)
    for key, header in (("header", experiment.header), ("local.header", local.header)):
        if len(header) != 2:
            yield key, ", ".join(header), "two words, for groups and for rows"
    if local.picture and local.picture not in PICTURES:
        yield "local.picture", local.picture, " or ".join(PICTURES)
