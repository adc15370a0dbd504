"""Judgements that are kept: the same thing is never judged, nor paid for, twice.

SQLite, so that runs at work at the same time may share one file. Only decided judgements are kept.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from pathlib import Path
from typing import cast

from toolorchestra.judge.prompt import Case, Prompts
from toolorchestra.judge.reply import Ruling, VerdictWord
from toolorchestra.provider.base import Sampling

_LOCK_WAIT_S = 60.0
_TABLE = """
    CREATE TABLE IF NOT EXISTS judgement (
        key TEXT PRIMARY KEY,
        model TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ('correct', 'incorrect', 'not_attempted')),
        reasoning TEXT NOT NULL
    )
"""


def key_of(case: Case, *, model: str, prompts: Prompts, sampling: Sampling) -> str:
    """Names a judgement: equal where the same model is asked the same in the same way."""
    parts = [
        model,
        prompts.system,
        prompts.user,
        sampling.max_tokens,
        sampling.temperature,
        sampling.reasoning_effort,
        sampling.json_schema,
        case.question,
        case.golds,
        case.given,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class JudgementCache:
    """One file of judgements, or the memory of one run. Safe to use from several threads."""

    def __init__(self, path: Path | None) -> None:
        """Opens the file, and makes it where there is none.

        Raises:
            ValueError: It cannot be opened, or is no such file.
        """
        self._path, self._lock = path, threading.Lock()
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path or ":memory:",
                timeout=_LOCK_WAIT_S,
                isolation_level=None,  # each statement is a transaction of its own
                check_same_thread=False,
            )
            self._db.execute(_TABLE)
            self._db.execute("SELECT key, model, verdict, reasoning FROM judgement LIMIT 1")
        except (sqlite3.Error, OSError) as error:
            raise self._fault(error) from error

    def get(self, key: str) -> Ruling | None:
        """The judgement of that name, if there is one.

        Raises:
            ValueError: The file is damaged.
        """
        row = self._run("SELECT verdict, reasoning FROM judgement WHERE key = ?", (key,))
        if row is None:
            return None
        return Ruling(verdict=cast(VerdictWord, row[0]), reasoning=str(row[1]))

    def put(self, key: str, ruling: Ruling, *, model: str) -> None:
        """Keeps a judgement; of two by the same name, the first stays.

        Raises:
            ValueError: The file is damaged, or cannot be written to.
        """
        self._run(
            "INSERT OR IGNORE INTO judgement VALUES (?, ?, ?, ?)",
            (key, model, ruling.verdict, ruling.reasoning),
        )

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._db.close()

    def _run(self, statement: str, values: tuple[str, ...]) -> tuple[str, ...] | None:
        try:
            with self._lock:
                return cast(
                    "tuple[str, ...] | None", self._db.execute(statement, values).fetchone()
                )
        except sqlite3.Error as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> ValueError:
        return ValueError(
            f"judge.cache: {self._path} cannot be used ({error}); use another file, delete this "
            "one if it is damaged, or judge.cache=null to keep no judgements"
        )
