"""Where servers say that they live: one small file a replica, in a folder that machines share.

A reader takes a server for live while it sees its beats go on, by the reader's own monotonic clock:
no clocks are compared, so none need agree. Times of files would not do: some network file systems
take them from the writer's clock, and most cache them. Only of a file that was not watched until
now does the reader ask how old it is, and then it allows the two clocks `SKEW_S`. Clocks further
apart hide a live server for one beat; a dead one is believed for `lifetime_s` at most.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import re
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from toolorchestra.codec import from_json, to_json

log = logging.getLogger(__name__)

SUFFIX, ASIDE_SUFFIX = ".endpoint.json", ".endpoint.new"
SKEW_S = 60.0
"""How far the clocks of two machines may be apart."""
DAY_S = 86400.0
"""How long a file must be silent before it may be swept away."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """One start of one server. Its times are seconds since 1970 by the clock of its machine."""

    service: str
    """What it serves, e.g. the model "Qwen/Qwen3-32B"."""
    url: str
    """Without a path, e.g. "http://node7:41234"."""
    id: str
    """No two starts share one."""
    started_at: float
    beat_at: float
    """Of its last beat."""
    expires_at: float
    """When it counts as dead unless it beats again."""
    num_beats: int
    """Changes with every beat, whatever clocks do."""
    is_ready: bool
    """Whether it may be called; one that is not is starting."""
    host: str
    pid: int
    """Of the keeper; for humans, as are host and job."""
    job_id: str
    """Of the cluster job; empty where there is none."""

    def __post_init__(self) -> None:
        if not self.lifetime_s > 0:
            raise ValueError(f"lifetime_s must be positive; got {self.lifetime_s:g}")

    @property
    def lifetime_s(self) -> float:
        """How long it counts as live after a beat."""
        return self.expires_at - self.beat_at


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sighting:
    """What a reader knows of one file, by its monotonic clock."""

    endpoint: Endpoint
    read_at: float
    heard_at: float
    """When a beat was new."""


class Registry:
    """The folder, as one process sees it. Not for several threads at once."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        """Takes the shared folder, which may not exist yet, and this machine's clock."""
        self.folder, self._clock = folder, clock
        self._seen: dict[str, _Sighting] = {}
        self._live: tuple[Endpoint, ...] = ()
        self.trouble = ""
        """Why the folder could not be read the last time; empty where it could."""
        self._told: set[str] = set()

    def announce(
        self,
        service: str,
        *,
        url: str,
        lifetime_s: float,
        is_ready: bool = True,
        host: str = "",
        job_id: str = "",
    ) -> Endpoint:
        """Registers a server of this process.

        Args:
            service: What it serves.
            url: Where others reach it.
            lifetime_s: How long it counts as live after each beat.
            is_ready: Whether it may be called already.
            host: Name of this machine.
            job_id: Of the cluster job, if any.

        Raises:
            ValueError: `lifetime_s` is not positive.
            OSError: The folder cannot be written to.
        """
        host, now = host or socket.gethostname(), self._clock()
        name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{service} {host}").strip(".-")
        endpoint = Endpoint(
            service=service,
            url=url,
            id=f"{name}-{os.getpid()}-{secrets.token_hex(4)}",
            started_at=now,
            beat_at=now,
            expires_at=now + lifetime_s,
            num_beats=0,
            is_ready=is_ready,
            host=host,
            pid=os.getpid(),
            job_id=job_id,
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(endpoint)
        return endpoint

    def beat(self, endpoint: Endpoint, *, is_ready: bool = True) -> Endpoint:
        """Says that a server lives on, and returns its new record, to be given to the next beat.

        Raises:
            OSError: The folder cannot be written to.
        """
        now = self._clock()
        beaten = replace(
            endpoint,
            beat_at=now,
            expires_at=now + endpoint.lifetime_s,
            num_beats=endpoint.num_beats + 1,
            is_ready=is_ready,
        )
        self._write(beaten)
        return beaten

    def withdraw(self, endpoint: Endpoint) -> None:
        """Takes a server off the list. It need not be there.

        Raises:
            OSError: The folder cannot be written to.
        """
        self._path(endpoint).unlink(missing_ok=True)

    def find(self, service: str) -> list[Endpoint]:
        """The live replicas of a service that may be called."""
        return [item for item in self.read() if item.service == service and item.is_ready]

    def read(self) -> tuple[Endpoint, ...]:
        """All live servers, those that are starting included.

        A folder that cannot be read gives the list of the last reading: nobody is dead because a
        file system is slow.
        """
        try:
            names, self.trouble = sorted(path.name for path in self.folder.iterdir()), ""
        except FileNotFoundError:
            names, self.trouble = [], "the folder does not exist"
        except OSError as error:
            self.trouble = f"the folder cannot be read: {error.strerror}"
            self._tell_once(self.folder.name, error)
            return self._live
        looked = {name: self._look(name) for name in names if name.endswith(SUFFIX)}
        self._seen = {name: sighting for name, sighting in looked.items() if sighting}
        now = time.monotonic()
        self._live = tuple(
            sighting.endpoint
            for sighting in self._seen.values()
            if now - sighting.heard_at <= sighting.endpoint.lifetime_s
        )
        return self._live

    def sweep(self, *, older_than_s: float = DAY_S) -> int:
        """Removes what servers left behind that died without a word long ago.

        Returns:
            How many files; what is not a server's record stays.
        """
        num_removed = 0
        for path in [*self.folder.glob(f"*{SUFFIX}"), *self.folder.glob(f"*{ASIDE_SUFFIX}")]:
            with contextlib.suppress(OSError, ValueError):
                is_record = path.name.endswith(SUFFIX)
                beat_at = _load(path).beat_at if is_record else path.stat().st_mtime
                if self._clock() - beat_at > older_than_s:
                    path.unlink()
                    num_removed += 1
        return num_removed

    def _look(self, name: str) -> _Sighting | None:
        """Opens the file anew, whereupon NFS asks its server whether it has changed."""
        before = self._seen.get(name)
        try:
            endpoint = _load(self.folder / name)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._tell_once(name, error)
            return before
        now = time.monotonic()
        if before is None or now - before.read_at > endpoint.lifetime_s:  # nobody was watching
            age_s = abs(self._clock() - endpoint.beat_at)
            is_recent = age_s <= endpoint.lifetime_s + SKEW_S
            heard_at = now if is_recent else -math.inf
        else:
            is_new = endpoint.num_beats != before.endpoint.num_beats
            heard_at = now if is_new else before.heard_at
        return _Sighting(endpoint=endpoint, read_at=now, heard_at=heard_at)

    def _path(self, endpoint: Endpoint) -> Path:
        return self.folder / (endpoint.id + SUFFIX)

    def _write(self, endpoint: Endpoint) -> None:
        """All or nothing. No fsync: a record that a power cut loses is that of a dead server."""
        aside = self.folder / (endpoint.id + ASIDE_SUFFIX)
        aside.write_text(json.dumps(to_json(endpoint), indent=1) + "\n", encoding="utf-8")
        aside.replace(self._path(endpoint))

    def _tell_once(self, name: str, error: Exception) -> None:
        if name not in self._told:
            self._told.add(name)
            log.warning("cannot read %s in %s: %s", name, self.folder, error)


def _load(path: Path) -> Endpoint:
    """Raises: OSError, or ValueError for what is no record of the server that it is named after."""
    endpoint = from_json(Endpoint, json.loads(path.read_bytes()))
    if path.name != endpoint.id + SUFFIX:
        raise ValueError(f"it is a copy of {endpoint.id}{SUFFIX}")
    return endpoint
