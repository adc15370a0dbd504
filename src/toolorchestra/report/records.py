"""The records of an evaluation: one line a trial, written as it ends, and read back by who goes on.

A kill at any time costs the trials in flight alone: a line is whole or, if it is the last one, cut
off. Only results stay in memory, and where each line lies; at the end lines are put in order.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolorchestra.benchmark.evaluate import Result, Trial
from toolorchestra.benchmark.trials import TrialKey, as_asked, is_settled, key_of
from toolorchestra.codec import fingerprint, to_json
from toolorchestra.report.trajectories import (
    CONFIG_HASH,
    FORMAT,
    FORMAT_VERSION,
    load_line,
    parse_trial,
)
from toolorchestra.types import Episode, Json

log = logging.getLogger(__name__)

SYNC_S = 1.0
"""A crash of the machine, unlike that of the process, may cost the lines of so many seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """What is remembered of a line."""

    result: Result
    episode: str
    """Digest of the episode that was played."""
    num_void: int
    is_settled: bool
    offset: int


class TrialRecords:
    """One file of records, opened by one process."""

    def __init__(self, path: Path, *, hashes: Mapping[str, str], default_hash: str) -> None:
        """Reads what is there, and cuts off a last line that is not whole.

        Args:
            path: The file; made with the first record.
            hashes: What decides the results of a policy, as a hash, by the policy's name.
            default_hash: The same for all other policies.

        Raises:
            ValueError: A line is damaged, has another format or another hash; names file and line.
        """
        self._path, self._hashes, self._default_hash = path, hashes, default_hash
        self._aside = path.with_name(path.name + ".new")
        self._aside.unlink(missing_ok=True)  # left where a kill came while lines were put in order
        self._kept: dict[TrialKey, _Kept] = {}
        self._synced_s = time.monotonic()
        self._size = self._num_lines = 0
        if path.exists():
            self._read()

    @property
    def results(self) -> Iterator[Result]:
        """Of the trials that need not be played."""
        return (kept.result for kept in self._kept.values() if kept.is_settled)

    @property
    def all_results(self) -> Iterator[Result]:
        """Of all trials, void ones included."""
        return (kept.result for kept in self._kept.values())

    def find(self, key: TrialKey, episode: Episode) -> Result | None:
        """The result of a trial that stays as it is; see `toolorchestra.benchmark.trials`."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.episode != fingerprint(to_json(as_asked(episode))):
            raise ValueError(
                f"{self._path}: {key.policy} played {key.episode} in the {key.world} world, trial "
                f"{key.trial}, as another task than it is now: data or descriptions have changed; "
                "bring the old ones back, or use another folder"
            )
        return kept.result if kept.is_settled else None

    def write(self, trial: Trial) -> None:
        """Appends one trial, without the rows that only training needs."""
        key = key_of(trial.result)
        before = self._kept.get(key)
        num_void = trial.num_void + (before.num_void if before else 0)
        trial = replace(trial, rollout=replace(trial.rollout, rows=()), num_void=num_void)
        head = {FORMAT: FORMAT_VERSION, CONFIG_HASH: self._hash(key.policy)}
        value = head | to_json(trial)
        line = (json.dumps(value, ensure_ascii=False) + "\n").encode()
        with self._path.open("ab") as file:
            file.write(line)
            file.flush()
            if time.monotonic() - self._synced_s > SYNC_S:
                os.fsync(file.fileno())
                self._synced_s = time.monotonic()
        self._keep(trial)
        self._size += len(line)

    def put_in_order(self, keys: Iterable[TrialKey]) -> None:
        """Rewrites the file with the last line of each of these trials, in this order."""
        offsets = [self._kept[key].offset for key in keys]
        if self._num_lines == len(offsets) and offsets == sorted(offsets):
            return
        with self._path.open("rb") as old, self._aside.open("wb") as new:
            for offset in offsets:
                old.seek(offset)
                new.write(old.readline())
            new.flush()
            os.fsync(new.fileno())
        self._aside.replace(self._path)

    def _hash(self, policy: str) -> str:
        return self._hashes.get(policy, self._default_hash)

    def _read(self) -> None:
        with self._path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break
                where = f"{self._path}:{number}"
                value = load_line(line, where)
                trial = parse_trial(value, where)
                self._check(value, trial.result.policy, where)
                self._keep(trial)
                self._size += len(line)
        if self._size < self._path.stat().st_size:
            log.info("%s: its last line was cut by a kill, and is left out", self._path)
            os.truncate(self._path, self._size)

    def _check(self, value: Json, policy: str, where: str) -> None:
        if value.get(CONFIG_HASH) != self._hash(policy):
            raise ValueError(
                f"{where}: the policy {policy} was played with another config or with other "
                "weights than now; bring them back, or use another folder"
            )

    def _keep(self, trial: Trial) -> None:
        """Remembers what begins at the end of what is there."""
        self._num_lines += 1
        self._kept[key_of(trial.result)] = _Kept(
            result=trial.result,
            episode=fingerprint(to_json(as_asked(trial.episode))),
            num_void=trial.num_void,
            is_settled=is_settled(trial),
            offset=self._size,
        )
