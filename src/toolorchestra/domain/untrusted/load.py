"""Domains whose code nobody trusts, such as synthesised ones: it runs in the sandbox alone.

Such a domain is a folder as `load` describes it. Its `functions.py` is one file with a tuple
`FUNCTIONS`, the same text as in a package that ships with the project; there may be a
`user_functions.py`, which may import from `.functions`. Both may import the standard library and,
of this project, the modules of `toolorchestra.domain` named in `GIVEN`, e.g.

    from toolorchestra.domain.database import Database, Record
    from toolorchestra.domain.fault import DomainError
    from toolorchestra.domain.new_key import new_key
    from toolorchestra.domain.value import money, money_text

Each call runs the file from the start, in a process of its own that sees no network, no file of
the user's and no folder that it could write, and is ended when its time is over. What it is given
are the arguments and the records; what it says that it did is checked and done out here, to the
database of the episode, so that transactions, schema, replay and verdicts are the same code as for
every domain. `random` begins anew in each call and sets have one order, so that calls can be made
again; only the clock is not held.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from toolorchestra.domain.argument import told_argument
from toolorchestra.domain.database import Database, Key, Record
from toolorchestra.domain.domain import Domain, Origin
from toolorchestra.domain.fault import BadDomain, DomainBug, DomainError
from toolorchestra.domain.folder import Texts, read_texts, text_of, texts_digest
from toolorchestra.domain.function import TypedFunction
from toolorchestra.domain.load import load_texts, with_tasks
from toolorchestra.domain.untrusted.limits import LIMITS, limits_of, options_of
from toolorchestra.domain.untrusted.reply import BadReply, read_told, take_effect
from toolorchestra.domain.untrusted.worker import Worker, WorkerError
from toolorchestra.domain.untrusted.workers import Workers
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_launch
from toolorchestra.sandbox.launch import Launch

GIVEN = (
    "argument", "check", "database", "fault", "function", "lookup", "new_key", "schema", "value",
)  # fmt: skip

_ROOT = Path(__file__).parents[2]
_FILES = ("functions", "user_functions")


def load_untrusted(
    folder: Path, *, name: str | None = None, has_tasks: bool = True, limits: SandboxConfig = LIMITS
) -> Domain:
    """Load a domain whose code runs only in the sandbox; the golden actions of its tasks are tried.

    Args:
        folder: Where its files lie; symbolic links there are refused.
        name: What to call it; as the folder where None.
        has_tasks: False reads no `tasks.jsonl`: while its tasks are still to be made.
        limits: Of the sandbox, and of each call.

    Returns:
        The domain. A call of its functions takes milliseconds, up to `limits.timeout_s` where the
        code hangs, and blocks meanwhile: a coroutine makes it in a thread. A function that hangs,
        dies, floods or answers in no form that is expected raises `DomainBug`, as one that raises
        something else does.

    Raises:
        BadDomain: a file is missing or wrong; the message gives the file, the line and why.
        ValueError: this machine has no sandbox; the message says what to do.
    """
    if limits_of(options_of(limits)) != limits:
        raise ValueError("limits: is not allowed; use what limits_of makes of options")
    texts = read_texts(folder, follows_links=False)
    text_of(texts, "functions.py")
    try:
        domain = load_texts(
            texts, name=name or folder.resolve().name, functions={}, user_functions={}
        )
        functions = _Functions(domain.database, texts, limits)
        domain = replace(
            domain,
            functions=functions.of("functions"),
            user_functions=functions.of("user_functions"),
            origin=Origin(
                folder=str(folder.resolve()), digest=texts_digest(texts), options=options_of(limits)
            ),
        )
        return with_tasks(domain, texts) if has_tasks else domain
    except RecursionError:
        raise BadDomain(f"{folder.name}: its JSON is nested too deeply") from None


class _Functions:
    """The functions of one domain, called by the workers that they share."""

    def __init__(self, database: Database, texts: Texts, limits: SandboxConfig) -> None:
        launch = _launch(limits)
        self._base = database
        self._files = [file for file in _FILES if f"{file}.py" in texts]
        first_message = {
            "modules": _given_modules(),
            "files": {file: texts[f"{file}.py"] for file in self._files},
            "schema": json.loads(texts["schema.json"]),
            "records": database.records,
            "limit_s": limits.timeout_s,
            "max_bytes": limits.max_output_bytes,
            "owns_namespace": launch.isolation != "none",
        }
        start = partial(Worker, launch, limits, json.dumps(first_message).encode())
        self._workers = Workers(start, max_workers=limits.max_parallel)

    def of(self, file: str) -> dict[str, TypedFunction]:
        """Those of one file, by name.

        Raises:
            BadDomain: The file cannot be used.
        """
        if file not in self._files:
            return {}
        try:
            told = self._workers.ask(json.dumps({"file": file}).encode())
            functions = read_told(told, lambda name: partial(self._run, file, name))
        except (WorkerError, BadReply) as error:
            raise BadDomain(f"{file}.py: {error}") from None
        return {function.name: function for function in functions}

    def _run(self, file: str, name: str, db: Database, /, **arguments: Any) -> Any:
        """Call a function, and do to `db` what it did."""
        request = {
            "file": file,
            "name": name,
            "arguments": {key: told_argument(value) for key, value in arguments.items()},
            "changes": _changes(self._base, db),
        }
        try:
            message = json.dumps(request, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DomainError(
                "a text holds half a character: a surrogate that stands alone"
            ) from None
        try:
            return take_effect(self._workers.ask(message), db, name)
        except (WorkerError, BadReply) as error:
            raise DomainBug(f"{name} broke: {error}") from None


def _changes(base: Database, now: Database) -> dict[str, dict[Key, Record | None]]:
    """What was written since: records that are shared were not, see `Database`."""
    changes: dict[str, dict[Key, Record | None]] = {}
    for name, records in now.records.items():
        before = base.records[name]
        theirs: dict[Key, Record | None] = {
            key: record for key, record in records.items() if before.get(key) is not record
        }
        theirs |= dict.fromkeys(sorted(before.keys() - records.keys()))
        if theirs:
            changes[name] = theirs
    return changes


@lru_cache
def _launch(limits: SandboxConfig) -> Launch:
    return find_launch(limits, runs="the functions of domains")


@lru_cache
def _given_modules() -> dict[str, str | None]:
    """The texts of the modules that there are inside, by name; None for packages."""
    names = ("codec", *(f"domain.{name}" for name in GIVEN), "domain.untrusted.answer")
    texts = {
        f"toolorchestra.{name}": (_ROOT / f"{name.replace('.', '/')}.py").read_text("utf-8")
        for name in names
    }
    packages = ("toolorchestra", "toolorchestra.domain", "toolorchestra.domain.untrusted")
    return {**dict.fromkeys(packages), **texts}
