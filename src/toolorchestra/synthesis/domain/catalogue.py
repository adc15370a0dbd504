"""A domain's rules and functions, as models read them."""

from __future__ import annotations

import json

from toolorchestra.domain.domain import Domain


def catalogue(domain: Domain) -> str:
    """The rules, and a line for each function: its name, what it does, and its arguments."""
    lines = [
        json.dumps(
            {
                "name": one.name,
                "description": one.description,
                "parameters": {"properties": one.parameters["properties"]}
                | {"required": one.parameters["required"]},
            },
            ensure_ascii=False,
        )
        for one in domain.functions.values()
    ]
    return f"Rules:\n{domain.policy.strip()}\n\nFunctions:\n" + "\n".join(lines)
