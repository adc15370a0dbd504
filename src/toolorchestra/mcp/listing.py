"""The tools of an MCP server as a run takes them in: which, under what names, with what arguments.

What could fail in the middle of a run, such as a schema that nothing can be checked against, is
found here, before it begins.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from mcp.types import Tool
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.types import Json

MAX_NAME = 64
_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
_COMPOSED = (
    "additionalProperties", "unevaluatedProperties", "patternProperties", "allOf", "anyOf", "oneOf",
    "$ref", "if", "dependentSchemas",
)  # fmt: skip
"""Keywords that let a schema say, or have others say, which further arguments are allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedTool:
    """One tool that a server has, as the run knows it."""

    name: str
    """Under which the policy calls it."""
    remote_name: str
    """Under which the server knows it."""
    description: str
    """The server's own words; may be empty."""
    parameters: Json
    """JSON schema of its arguments."""


def listed(server: str, config: McpServerConfig, tools: Sequence[Tool]) -> list[ListedTool]:
    """The tools of a server that are wanted, by name.

    Args:
        server: The server's name in the config.
        config: What is wanted of it.
        tools: All that it has.

    Raises:
        ValueError: The config names a tool that it lacks, two tools would have one name, or a
            schema is of no use.
    """
    key = f"toolset.mcp.{server}"
    _check_known(key, config, {tool.name for tool in tools})
    wanted = [
        tool
        for tool in tools
        if tool.name not in config.exclude and (not config.include or tool.name in config.include)
    ]
    if not wanted:
        raise ValueError(f"{key}: it has no tool that is wanted; use another include or exclude")
    by_name: dict[str, ListedTool] = {}
    for tool in wanted:
        name = offered_name(config.prefix + tool.name)
        if name in by_name:
            raise ValueError(
                f"{key}: {by_name[name].remote_name!r} and {tool.name!r} would both be called "
                f"{name!r}; use exclude for one of them"
            )
        if fault := schema_fault(tool.input_schema):
            raise ValueError(
                f"{key}: the schema of {tool.name!r} is of no use, as {fault}; use exclude for it"
            )
        by_name[name] = ListedTool(
            name=name,
            remote_name=tool.name,
            description=" ".join((tool.description or tool.title or "").split()),
            parameters=closed(tool.input_schema),
        )
    return [by_name[name] for name in sorted(by_name)]


def _check_known(key: str, config: McpServerConfig, known: Collection[str]) -> None:
    for where, names in (
        ("include", config.include),
        ("exclude", config.exclude),
        ("tools", list(config.tools)),
    ):
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{key}.{where}: {name!r} is not allowed, as the server has no such tool; use "
                    f"{', '.join(sorted(known)) or 'none, as it has no tools'}"
                )


def offered_name(name: str) -> str:
    """A name by OpenAI's rule: other characters become "_"; a long one ends in a digest of it."""
    plain = _OTHER.sub("_", name)
    if len(plain) <= MAX_NAME:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: MAX_NAME - 9]}_{digest}"


def closed(schema: Mapping[str, Any]) -> Json:
    """The schema, by which arguments that it does not name are an error unless it speaks of them.

    Servers often overlook unknown arguments; a policy would never learn that it made them up.
    """
    is_silent = not any(keyword in schema for keyword in _COMPOSED)
    return {**schema, "additionalProperties": False} if is_silent else dict(schema)


def schema_fault(schema: Mapping[str, Any]) -> str:
    """What is wrong with the schema of a tool's arguments; empty where nothing is."""
    if schema.get("type") != "object":
        return f"its type is {schema.get('type')!r}, not 'object'"
    try:
        Draft202012Validator.check_schema(schema)
        resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
        for keyword, value in _strings(schema):
            if keyword in ("$ref", "$dynamicRef"):
                resolver.lookup(value)
        list(Draft202012Validator(schema).iter_errors({}))
    except SchemaError as error:
        return f"it breaks JSON schema's rules ({error.message[:200]})"
    except Unresolvable as error:
        return f"it refers to {error.ref!r}, which is not in it"
    except RecursionError:
        return "it refers to itself without end"
    return ""


def _strings(value: object) -> Iterator[tuple[str, str]]:
    """All keys of a schema that have a text as value."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str):
                yield key, item
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
