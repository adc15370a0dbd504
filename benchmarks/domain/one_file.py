"""A shipped domain as a folder that nobody trusts: the same records, and one file of functions."""

from __future__ import annotations

import ast
import importlib
import shutil
from pathlib import Path

_DATA = ("schema.json", "database.jsonl", "policy.md", "tasks.jsonl")


def copy_domain(name: str, folder: Path) -> None:
    """Write the shipped domain `name` to a folder that is made."""
    package = importlib.import_module(f"toolorchestra.domain.{name}")
    home = Path(next(iter(package.__path__)))
    folder.mkdir(parents=True)
    for file in _DATA:
        shutil.copy(home / file, folder / file)
    source = one_file(home, package.__name__)
    (folder / "functions.py").write_text(source, encoding="utf-8")


def one_file(home: Path, package: str) -> str:
    """The module `functions` of a package with all that it imports from there, in one text."""
    bodies: dict[str, list[ast.stmt]] = {}
    _collect(home, package, "functions", bodies)
    body = [statement for statements in bodies.values() for statement in statements]
    first = ast.parse("from __future__ import annotations").body
    return ast.unparse(ast.Module(body=[*first, *body], type_ignores=[])) + "\n"


def _collect(home: Path, package: str, module: str, bodies: dict[str, list[ast.stmt]]) -> None:
    """Put a module's statements behind those of the modules that it imports from."""
    if module in bodies:
        return
    kept = []
    for statement in ast.parse((home / f"{module}.py").read_text(encoding="utf-8")).body:
        source = statement.module if isinstance(statement, ast.ImportFrom) else None
        if source is not None and source.startswith(f"{package}."):
            _collect(home, package, source.removeprefix(f"{package}."), bodies)
        elif source != "__future__":
            kept.append(statement)
    bodies[module] = kept
