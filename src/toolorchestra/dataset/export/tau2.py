"""A domain's task in the form of tau2-bench, which the published ToolScale has too.

What the user wants stands in `task_instructions`, as in ToolScale. How a scripted user would say it
step by step has no place there, and is left out: the instruction says no less.
"""

from __future__ import annotations

from typing import Any

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.task import Action, DomainTask
from toolorchestra.types import Json

_REQUESTORS = {"policy": "assistant", "user": "user"}


def tau2_task(domain: Domain, task: DomainTask) -> Json:
    """One task of `tasks.json`.

    Raises:
        ValueError: The task begins without a record that the database has, for which there is no
            place.
    """
    return {
        "id": task.id,
        "description": {
            "purpose": f"difficulty {task.difficulty}",
            "relevant_policies": None,
            "notes": None,
        },
        "user_scenario": {
            "persona": None,
            "instructions": {
                "task_instructions": task.instruction,
                "reason_for_call": task.instruction,
                "known_info": task.scenario or None,
                "unknown_info": None,
                "domain": domain.name,
            },
        },
        "initial_state": _initial_state(domain, task),
        "evaluation_criteria": {
            "actions": [_action(number, action) for number, action in enumerate(task.actions)],
            "communicate_info": list(task.communicate),
            "nl_assertions": None,
            "reward_basis": ["DB", "COMMUNICATE"],
        },
    }


def _action(number: int, action: Action) -> Json:
    return {
        "action_id": f"{action.name}_{number}",
        "requestor": _REQUESTORS[action.by],
        "name": action.name,
        "arguments": dict(action.arguments),
        "info": None,
        "compare_args": None,
    }


def _initial_state(domain: Domain, task: DomainTask) -> Json | None:
    """The records that differ when the task begins, whole."""
    if not task.changes:
        return None
    changed: dict[str, dict[str, Any]] = {}
    database = domain.begin(task).database
    for change in task.changes:
        if change.is_removed:
            raise ValueError(
                f"task {task.id}: {change.collection} {change.key} is removed at the start, for "
                "which form=tau2 has no place; use form=openai"
            )
        record = database.records[change.collection][change.key]
        changed.setdefault(change.collection, {})[change.key] = record
    return {"initialization_data": {"agent_data": changed, "user_data": None}}
