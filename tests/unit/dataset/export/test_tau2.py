"""Tasks in the form of tau2-bench: what is written reads back as what it was."""

import json
from dataclasses import replace

import pytest

from toolorchestra.dataset.export.config import ExportConfig
from toolorchestra.dataset.export.tau2 import tau2_task
from toolorchestra.dataset.export.write import export
from toolorchestra.dataset.toolscale_table import GoldenAction, read_toolscale
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.domain.task import InitialChange

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.parametrize("name", SHIPPED)
def test_the_reader_of_the_published_table_gives_the_same_tasks(name, tmp_path):
    export(ExportConfig(domain=name, form="tau2", out=str(tmp_path)))
    found = list(read_toolscale(str(tmp_path / "tasks.json")))
    tasks = list(load_shipped(name).tasks.values())
    assert [record.id for record in found] == [task.id for task in tasks]
    for record, task in zip(found, tasks, strict=True):
        assert (record.domain, record.instruction) == (name, task.instruction)
        assert record.known == task.scenario
        assert record.communicate == task.communicate
        assert record.actions == tuple(
            GoldenAction(name=one.name, arguments=dict(one.arguments)) for one in task.actions
        ), task.id


def test_a_task_has_the_fields_of_tau2():
    domain = load_shipped("library")
    task = next(task for task in domain.tasks.values() if task.actions and task.communicate)
    found = json.loads(json.dumps(tau2_task(domain, task)))
    assert found.keys() == {
        "id", "description", "user_scenario", "initial_state", "evaluation_criteria",
    }  # fmt: skip
    assert found["user_scenario"]["instructions"].keys() == {
        "task_instructions", "reason_for_call", "known_info", "unknown_info", "domain",
    }  # fmt: skip
    criteria = found["evaluation_criteria"]
    assert criteria["actions"][0] == {
        "action_id": f"{task.actions[0].name}_0",
        "requestor": "assistant",
        "name": task.actions[0].name,
        "arguments": task.actions[0].arguments,
        "info": None,
        "compare_args": None,
    }
    assert criteria["communicate_info"] == list(task.communicate)
    assert criteria["nl_assertions"] is None
    assert criteria["reward_basis"] == ["DB", "COMMUNICATE"]
    assert found["initial_state"] is None


def test_calls_of_the_user_are_the_users():
    domain = load_shipped("courier")
    task = next(task for task in domain.tasks.values() if task.needs_user)
    actions = tau2_task(domain, task)["evaluation_criteria"]["actions"]
    requestors = {"policy": "assistant", "user": "user"}
    assert [one["requestor"] for one in actions] == [requestors[a.by] for a in task.actions]
    assert {one["requestor"] for one in actions} == {"assistant", "user"}


def test_records_that_differ_at_the_start_are_written_whole():
    domain = load_shipped("library")
    task = next(iter(domain.tasks.values()))
    (key, member), *_ = domain.database.records["members"].items()
    change = InitialChange(collection="members", key=key, fields={"name": "Somebody Else"})
    state = tau2_task(domain, replace(task, changes=(change,)))["initial_state"]
    assert state["initialization_data"]["agent_data"] == {
        "members": {key: member | {"name": "Somebody Else"}}
    }


def test_a_record_that_is_removed_at_the_start_has_no_place():
    domain = load_shipped("library")
    task = next(iter(domain.tasks.values()))
    key = next(iter(domain.database.records["holds"]))
    change = InitialChange(collection="holds", key=key, is_removed=True)
    with pytest.raises(ValueError, match=f"holds {key} is removed at the start.*use form=openai"):
        tau2_task(domain, replace(task, changes=(change,)))
