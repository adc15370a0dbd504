"""A domain's functions as tools: `function(db, **arguments)`, typed and described.

The schema of a function is read from its annotations and its docstring. A call is a transaction:
it works on a copy of the database, which replaces the database only where the call succeeds.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from toolorchestra.domain.argument import json_schema, read_argument
from toolorchestra.domain.check import written_problems
from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import BadDomain, DomainBug, DomainError

_ARGUMENT = re.compile(r"(?P<name>\w+): (?P<text>.+)")
_SECTION = re.compile(r"[A-Z]\w+:")


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedFunction:
    """One function of a domain."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments, as OpenAI's tools have it."""
    annotations: Mapping[str, Any]
    run: Callable[..., Any]

    def read_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What `run` receives for the JSON values of a call.

        Raises:
            DomainError: an argument is missing, unknown or of the wrong kind.
        """
        for name in arguments:
            if name not in self.annotations:
                known = ", ".join(self.annotations) or "none"
                raise DomainError(f"{name}: is no argument of {self.name}; it takes {known}")
        for name in self.parameters["required"]:
            if name not in arguments:
                raise DomainError(f"{name}: is missing; {self.name} needs it")
        return {
            name: read_argument(self.annotations[name], value, name)
            for name, value in arguments.items()
        }


def read_function(function: Callable[..., Any]) -> TypedFunction:
    """The tool that `function` is.

    Raises:
        BadDomain: it takes no `db`, or an argument is not annotated, not described or of a type
            that JSON has no place for.
    """
    name = function.__name__
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].name != "db":
        raise BadDomain(f"function {name}: its first argument must be db")
    hints = get_type_hints(function)
    description, texts = _read_docstring(name, inspect.getdoc(function) or "")
    for parameter in parameters[1:]:
        if parameter.name not in hints or parameter.name not in texts:
            missing = "annotated" if parameter.name not in hints else "described"
            raise BadDomain(f"function {name}: {parameter.name} is not {missing}")
    annotations = {one.name: hints[one.name] for one in parameters[1:]}
    required = [one.name for one in parameters[1:] if one.default is one.empty]
    try:
        schema = parameters_schema(annotations, texts, required)
    except TypeError as error:
        raise BadDomain(f"function {name}: {error}") from error
    return TypedFunction(
        name=name,
        description=description,
        parameters=schema,
        annotations=annotations,
        run=function,
    )


def parameters_schema(
    annotations: Mapping[str, Any], texts: Mapping[str, str], required: Sequence[str]
) -> dict[str, Any]:
    """JSON schema of arguments.

    Args:
        annotations: What each argument is.
        texts: What is said of each.
        required: Those that a call cannot leave out.

    Raises:
        TypeError: JSON has no place for one.
    """
    properties = {}
    for name, annotation in annotations.items():
        try:
            properties[name] = {**json_schema(annotation), "description": texts[name]}
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from error
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _read_docstring(name: str, docstring: str) -> tuple[str, dict[str, str]]:
    """The text before the first section, and the arguments' descriptions."""
    lines = docstring.splitlines()
    starts = [i for i, line in enumerate(lines) if _SECTION.fullmatch(line.strip())]
    description = " ".join(" ".join(lines[: starts[0] if starts else None]).split())
    if not description:
        raise BadDomain(f"function {name}: has no docstring, so nothing says what it does")
    texts: dict[str, str] = {}
    if "Args:" in lines:
        last = ""
        for line in lines[lines.index("Args:") + 1 :]:
            if not line.strip() or _SECTION.fullmatch(line.strip()):
                break
            if found := _ARGUMENT.fullmatch(line.strip()):
                last = found["name"]
                texts[last] = found["text"]
            elif last:
                texts[last] += " " + line.strip()
    return description, texts


def read_functions(functions: Sequence[Callable[..., Any]]) -> dict[str, TypedFunction]:
    """The tools that `functions` are, by name.

    Raises:
        BadDomain: one cannot be a tool, or two have the same name.
    """
    tools: dict[str, TypedFunction] = {}
    for function in functions:
        tool = read_function(function)
        if tool.name in tools:
            raise BadDomain(f"function {tool.name}: the name is used twice")
        tools[tool.name] = tool
    return tools


def call_function(
    database: Database, function: TypedFunction, arguments: Mapping[str, Any]
) -> tuple[Database, Any]:
    """Call `function`.

    Returns:
        The database after the call, and the JSON value that the function gave. `database` itself
        stays as it was.

    Raises:
        DomainError: the call asked for what cannot be done.
        DomainBug: the function broke, or left a database that its schema forbids.
    """
    given = function.read_arguments(arguments)
    after = database.copy()
    after.written.clear()
    try:
        result = function.run(after, **given)
        json.dumps(result, allow_nan=False)
    except (DomainError, DomainBug):
        raise
    except Exception as error:  # whatever a domain's code raises is a bug of the domain
        raise DomainBug(f"{function.name} broke: {type(error).__name__}: {error}") from error
    for _, problem in written_problems(after):
        raise DomainBug(f"{function.name} left a record that the schema forbids: {problem}")
    after.written |= database.written
    return after, result
