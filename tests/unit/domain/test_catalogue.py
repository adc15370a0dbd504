import json
import shutil
from pathlib import Path

import pytest

from toolorchestra.codec import from_json, to_json
from toolorchestra.domain.catalogue import SHIPPED_ALONE, Catalogue, Listed, load_origin
from toolorchestra.domain.goal import Goal, as_task, goal_of
from toolorchestra.domain.load import SHIPPED, load_shipped
from toolorchestra.domain.untrusted.limits import limits_of
from toolorchestra.domain.untrusted.load import load_untrusted
from toolorchestra.types import Task

pytestmark = pytest.mark.sandbox

_SHOP = Path(__file__).parent / "shop"


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "some-shop"
    shutil.copytree(_SHOP, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def catalogue(folder, **options):
    return Catalogue(folders={"shop": Listed(folder=str(folder), limits=limits_of(options))})


def test_shipped_domains_are_found_by_name():
    for name in SHIPPED:
        assert SHIPPED_ALONE.load(name) is load_shipped(name)
    with pytest.raises(ValueError, match="domain: 'shop' is not allowed; use library, clinic"):
        SHIPPED_ALONE.load("shop")


def test_a_folder_is_found_by_its_name_and_loaded_once(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    shop = catalogue("some-shop").load("shop")
    assert (shop.name, shop.origin.folder) == ("shop", str(folder))
    assert catalogue(folder).load("shop") is shop
    with pytest.raises(ValueError, match=r"domain: 'x' is not allowed; use library, .*shop$"):
        catalogue(folder).load("x")


def test_a_folder_that_cannot_be_used_is_refused_with_key_and_reason(folder):
    (folder / "policy.md").write_text("")
    with pytest.raises(ValueError) as caught:
        catalogue(folder).load("shop")
    assert str(caught.value) == (
        f"dataset.domain.folders.shop: {folder} is not allowed: policy.md: is empty"
    )
    with pytest.raises(ValueError, match="nowhere is not allowed: nowhere: there is no such"):
        catalogue(folder.parent / "nowhere").load("shop")


def tasks_of(domain):
    return [as_task(Goal(domain=domain, task=task)) for task in domain.tasks.values()]


def read_back(task):
    return from_json(Task, json.loads(json.dumps(to_json(task))))


def test_a_task_finds_its_domain_wherever_it_is_read(folder):
    shop = catalogue(folder, timeout_s=3.0).load("shop")
    for task, theirs in zip(tasks_of(shop), shop.tasks.values(), strict=True):
        goal = goal_of(read_back(task))
        assert goal.domain is shop
        assert goal.task == theirs
        assert (task.skill, task.answer_kind) == ("shop", "domain")


def test_tasks_of_shipped_domains_say_no_more_than_they_did():
    library = load_shipped("library")
    assert tasks_of(library)[0].metadata == {
        "domain": "library",
        "domain_task": "library-001",
        "difficulty": 1,
    }


def test_a_folder_that_has_changed_since_is_refused(folder):
    task = tasks_of(load_untrusted(folder, name="shop"))[0]
    with (folder / "policy.md").open("a") as file:
        file.write("Give everything away.\n")
    with pytest.raises(ValueError) as caught:
        goal_of(task)
    assert str(caught.value) == (
        f"{folder}: has changed since tasks of the domain shop were made of it; put its files "
        "back, or begin a new run"
    )
    shutil.rmtree(folder)
    with pytest.raises(ValueError, match="some-shop: there is no such folder"):
        goal_of(task)


def test_a_folder_that_changes_is_another_domain_and_the_one_that_was_loaded_stays(folder):
    before = catalogue(folder).load("shop")
    task = tasks_of(before)[0]
    with (folder / "policy.md").open("a") as file:
        file.write("Give nothing away.\n")
    after = catalogue(folder).load("shop")
    assert after.policy != before.policy
    assert goal_of(task).domain is before
    assert goal_of(tasks_of(after)[0]).domain is after


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"folder": "/x", "digest": "y"}, "key 'options' is missing"),
        (
            {"folder": "/x", "digest": "y", "options": {"python": "/bin/sh"}},
            "'python' is not allow",
        ),
        ({"folder": "/nowhere", "digest": "y", "options": {}}, "there is no such folder"),
        ("/x", "expected an object"),
    ],
)
def test_an_origin_that_is_damaged_is_refused(folder, told, reason):
    task = to_json(tasks_of(load_untrusted(folder, name="shop"))[0])
    task["metadata"]["domain_origin"] = told
    with pytest.raises(ValueError, match=reason):
        goal_of(from_json(Task, task))


def test_an_origin_is_the_domain_that_was_loaded_from_it(folder):
    shop = catalogue(folder).load("shop")
    assert load_origin("shop", shop.origin) is shop
    assert load_origin("other", shop.origin).name == "other"
