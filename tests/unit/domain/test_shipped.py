"""What holds for every domain that ships."""

import random
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from toolorchestra.domain.communicate import unsaid
from toolorchestra.domain.draw import Cast, Goal, draw_tasks
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.domain.registry import DOMAINS
from toolorchestra.domain.schema import walk_fields
from toolorchestra.domain.verify import verify

_READING = ("get_", "list_", "find_", "search_", "trace_", "quote_")
_ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module", params=SHIPPED)
def domain(request):
    return load_shipped(request.param)


def test_it_is_as_large_as_a_domain_has_to_be(domain):
    assert len(domain.functions) >= 12
    assert sum(map(len, domain.database.records.values())) >= 300
    assert len(domain.tasks) >= 100


def test_it_has_money_dates_and_lists_with_and_without_order(domain):
    collections = domain.database.schema.collections.values()
    fields = [one for collection in collections for _, one in walk_fields(collection.fields)]
    assert {"money", "date", "reference", "choice"} <= {one.kind for one in fields}
    assert {one.ordered for one in fields if one.kind == "list"} == {True, False}


def test_tasks_rise_in_difficulty(domain):
    difficulties = [task.difficulty for task in domain.tasks.values()]
    assert difficulties == sorted(difficulties)
    counts = Counter(difficulties)
    assert set(counts) == {1, 2, 3, 4, 5} and min(counts.values()) >= 10


def test_no_two_tasks_ask_for_the_same(domain):
    assert len({task.instruction for task in domain.tasks.values()}) == len(domain.tasks)
    wanted = {f"{task.actions} {task.communicate}" for task in domain.tasks.values()}
    assert len(wanted) == len(domain.tasks)


def test_every_function_that_writes_is_in_a_golden_action(domain):
    used = {action.name for task in domain.tasks.values() for action in task.actions}
    assert used >= {name for name in domain.functions if not name.startswith(_READING)}
    assert used >= domain.user_functions.keys()


def test_golden_actions_solve_every_task(domain):
    for task in domain.tasks.values():
        messages = [" and ".join(task.communicate)]
        verdict = verify(domain, task, actions=task.actions, messages=messages)
        assert verdict.is_solved, f"{task.id}: {verdict}"


def test_a_script_says_the_instruction_goal_by_goal_and_what_the_user_then_does(domain):
    for task in domain.tasks.values():
        begins, answers = [], []
        for step in task.steps:
            (begins if step.say in task.instruction else answers).append(step)
        assert " ".join(step.say for step in begins) == task.instruction, task.id
        assert begins[0] is task.steps[0]
        assert not any(step.cues or step.actions for step in begins)
        assert all(step.cues and step.actions for step in answers)
        assert any(action.by == "user" for action in task.actions) == bool(answers)


def test_a_script_and_what_a_user_knows_give_nothing_away_that_has_to_be_said(domain):
    for task in domain.tasks.values():
        environment, said = domain.begin(task), [task.instruction, task.scenario]
        results = {}
        for action in task.actions:
            outcome = environment.call(action.name, action.arguments, by=action.by)
            if action.by == "user":
                results[action.name, str(action.arguments)] = outcome.content
        for step in task.steps:
            last = step.actions[-1] if step.actions else None
            given = results[last.name, str(last.arguments)] if last else ""
            said.append(step.say.replace("{result}", given))
        assert unsaid(task.communicate, said) == task.communicate, task.id


def test_the_policy_and_the_user_share_no_function(domain):
    assert not domain.functions.keys() & domain.user_functions.keys()
    (task, *_) = domain.tasks.values()
    for name in domain.user_functions:
        assert domain.begin(task).call(name, {}).content.startswith(f"there is no tool {name!r}")
    for name in domain.functions:
        outcome = domain.begin(task).call(name, {}, by="user")
        assert outcome.content.startswith(f"there is no tool {name!r}")


def test_a_task_in_which_the_user_has_to_write_is_not_solved_by_the_policy_alone(domain):
    for task in domain.tasks.values():
        actions = [action for action in task.actions if action.by == "policy"]
        alone = domain.replay(task, actions).database.written
        if alone != domain.replay_golden(task).database.written:
            messages = [" and ".join(task.communicate)]
            assert not verify(domain, task, actions=actions, messages=messages).is_solved, task.id


def test_no_function_has_the_name_of_a_tool_of_the_local_world(domain):
    tools = {path.stem for path in (_ROOT / "conf/tool").glob("*.yaml")}
    tools |= {name for some in DOMAINS.values() for name in some}
    assert "track_parcel" in tools
    assert not tools & {*domain.functions, *domain.user_functions}


@pytest.mark.parametrize("speaks", ["silent", "repeats the instruction"])
def test_doing_nothing_solves_no_task(domain, speaks):
    for task in domain.tasks.values():
        messages = [] if speaks == "silent" else [task.instruction]
        assert not verify(domain, task, actions=(), messages=messages).is_solved, task.id


def test_golden_actions_alone_do_not_tell_the_user_what_was_asked(domain):
    for task in domain.tasks.values():
        if task.communicate:
            assert not verify(domain, task, actions=task.actions, messages=["Done."]).is_solved


def test_saying_what_is_asked_for_without_any_call_solves_no_task(domain):
    for task in domain.tasks.values():
        messages = [" and ".join(task.communicate)]
        assert not verify(domain, task, actions=(), messages=messages).is_solved, task.id


@pytest.mark.parametrize("name", SHIPPED)
def test_every_process_makes_the_files_that_ship(name, tmp_path):
    program = (
        "import sys; from pathlib import Path; from toolorchestra.domain.fill import fill\n"
        "fill(sys.argv[1], Path(sys.argv[2]))"
    )
    subprocess.run([sys.executable, "-c", program, name, str(tmp_path)], check=True)
    home = Path(import_module(f"toolorchestra.domain.{name}").__file__).parent
    for file in ("database.jsonl", "tasks.jsonl"):
        assert (tmp_path / file).read_bytes() == (home / file).read_bytes(), file


def test_a_goal_that_nobody_has_is_named_when_tasks_are_drawn(domain):
    def never(script, user):
        return False

    collection = next(name for name, some in domain.database.records.items() if some)
    cast = Cast(
        collection=collection,
        goals=[Goal(template=never, weight=3)],
        introduce=lambda rng, key, record: ("I am here.", ""),
        num_alone=1,
        num_drawn={},
    )
    with pytest.raises(AssertionError, match=r"has goals of \['never'\] at 3"):
        list(draw_tasks(domain, [cast], random.Random(1)))
