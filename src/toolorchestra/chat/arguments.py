"""Whether a call's tool and arguments are allowed, said so that a policy can mend them."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from toolorchestra.types import CallError, Json, ToolCall

_SHOWN = 200


def unknown_tool(call: ToolCall, offered: Collection[str]) -> CallError:
    """The error for a call of a tool that the episode does not offer; it lists the offered ones."""
    names = ", ".join(sorted(offered)) or "none"
    return _error(call, f"there is no tool {_short(call.name)}; the tools are: {names}")


def check_arguments(call: ToolCall, parameters_schema: Json) -> CallError | None:
    """Check arguments against their tool's JSON schema.

    Args:
        call: A call of a tool that is offered.
        parameters_schema: `OfferedTool.parameters` of that tool.

    Returns:
        What is wrong and what is allowed, or None.
    """
    validator = _validator(json.dumps(parameters_schema, sort_keys=True))
    fault = best_match(validator.iter_errors(call.arguments))
    return None if fault is None else _error(call, f"{call.name}: {_said(fault)}")


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def _said(fault: ValidationError) -> str:
    where = ".".join(str(step) for step in fault.absolute_path) or "arguments"
    found: Any = fault.instance
    allowed: Any = fault.validator_value
    match fault.validator:
        case "required":
            missing = [name for name in allowed if name not in found]
            return f"{where}: {_listed(missing)} missing; required: {_listed(allowed)}"
        case "additionalProperties":
            known = (
                sorted(fault.schema.get("properties", {})) if isinstance(fault.schema, dict) else []
            )
            extra = sorted(set(found) - set(known))
            return f"{where}: {_listed(extra)} not allowed; use {_listed(known) or 'no keys'}"
        case "type":
            return f"{where}: {_short(found)} is not allowed; use type {_short(allowed)}"
        case "enum":
            return f"{where}: {_short(found)} is not allowed; use {_short(allowed)}"
        case _:
            rule = f"{fault.validator} {_short(allowed)}"
            return f"{where}: {_short(found)} is not allowed; the rule is {rule}"


def _error(call: ToolCall, message: str) -> CallError:
    written = {"name": call.name, "arguments": call.arguments}
    return CallError(message=message, text=json.dumps(written, ensure_ascii=False))


def _listed(names: Collection[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
