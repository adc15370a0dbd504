"""What tests of untrusted domains share: a domain whose function runs any code, and calls of it."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import Any

from toolorchestra.domain.database import Database
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.function import call_function

LIMIT_S = 2.0
_FOLDER = Path(__file__).parent / "hostile"


def copy_hostile(parent: Path, **files: str) -> Path:
    """A copy of the domain's folder; `functions="..."` puts another text into `functions.py`."""
    folder = parent / "hostile"
    shutil.copytree(_FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    return folder


def attempt(domain: Domain, code: str, database: Database | None = None) -> tuple[Database, Any]:
    """The database after the code has run as a function of the domain, and what it gave."""
    arguments = {"code": textwrap.dedent(code)}
    return call_function(database or domain.database, domain.functions["attempt"], arguments)


def result_of(domain: Domain, code: str) -> Any:
    """What the code gave."""
    return attempt(domain, code)[1]
