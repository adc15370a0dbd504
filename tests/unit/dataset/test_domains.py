import pytest
from tests.integration.hostile_domain import copy_hostile

from toolorchestra.dataset.config import DatasetConfig, DomainsConfig
from toolorchestra.dataset.source import make_source
from toolorchestra.domain.goal import goal_of
from toolorchestra.domain.load import SHIPPED, load_shipped


def config(**domain):
    return DatasetConfig(name="t", kind="domain", domain=DomainsConfig(**domain))


def drawn(split, count=300, *, seed=1, **domain):
    source = make_source(config(weights={"library": 1.0}, **domain), seed=seed)
    return [source(index, split) for index in range(count)]


def test_every_task_is_in_one_split_whatever_the_seed_and_a_fifth_of_each_level_is_held_out():
    train, heldout = drawn("train"), drawn("heldout")
    instructions = {task.question for task in train}, {task.question for task in heldout}
    assert not instructions[0] & instructions[1]
    assert len(instructions[0] | instructions[1]) == len(load_shipped("library").tasks)
    assert {task.question for task in drawn("heldout", seed=2)} == instructions[1]
    for level in range(1, 6):
        total = sum(t.difficulty == level for t in load_shipped("library").tasks.values())
        held = {task.id for task in heldout if task.metadata["difficulty"] == level}
        assert total / 5 <= len(held) < total / 5 + 1


def test_the_order_depends_on_the_seed_and_repeats_only_when_all_were_drawn():
    first = [task.id for task in drawn("train", 97)]
    assert len(set(first)) == 97
    assert first == [task.id for task in drawn("train", 97)]
    assert first != [task.id for task in drawn("train", 97, seed=2)]


def test_a_task_says_which_task_of_which_domain_it_is():
    for task in drawn("train", 5, difficulties=[2, 3]):
        goal = goal_of(task)
        assert (goal.domain.name, goal.task.instruction) == ("library", task.question)
        assert goal.task.difficulty in (2, 3)
        assert (task.skill, task.answer_kind) == ("library", "domain")


@pytest.mark.parametrize("name", SHIPPED)
def test_no_two_tasks_of_a_domain_have_the_same_instruction(name):
    tasks = load_shipped(name).tasks.values()
    assert len({task.instruction for task in tasks}) == len(tasks)


def test_difficulties_that_a_domain_lacks_are_refused():
    with pytest.raises(ValueError, match=r"difficulties: \[9\] leaves no task .* use some of 1, 2"):
        make_source(config(difficulties=[9]), seed=1)


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        ({"weights": {"zoo": 1.0}}, "domain.weights: 'zoo' is not allowed; use library"),
        ({"weights": {"library": 0.0}}, "at least one weight above 0"),
        ({"weights": {"library": -1.0}}, r"domain.weights.library: -1.0 is not allowed"),
        ({"difficulties": [0]}, "domain.difficulties: 0 is not allowed; use whole numbers from 1"),
        ({"folders": {"library": "/x"}}, "domain.folders: 'library' is not allowed; use a name of"),
        ({"folders": {"My shop": "/x"}}, "domain.folders: 'My shop' is not allowed"),
        ({"folders": {"shop": " "}}, "domain.folders.shop: ' ' is not allowed; use the path"),
        ({"folders": {"shop": "/x"}, "weights": {"zoo": 1}}, "use library, clinic, shop"),
        ({"sandbox": {"memory_mb": 1}}, "dataset.domain.sandbox.memory_mb: 1 is not allowed"),
        ({"sandbox": {"memory_mb": "much"}}, "dataset.domain.sandbox.memory_mb: much is not all"),
        ({"sandbox": {"timeout_s": "long"}}, "dataset.domain.sandbox"),
        ({"sandbox": {"work_mb": 1}}, "dataset.domain.sandbox: 'work_mb' is not allowed; use tim"),
    ],
)
def test_options_of_domains_are_checked(domain, said):
    with pytest.raises(ValueError, match=said):
        config(**domain)


def test_a_choice_of_domains_belongs_to_the_kind_domain():
    with pytest.raises(ValueError, match="dataset.domain: null is not allowed"):
        DatasetConfig(name="t", kind="domain")
    with pytest.raises(ValueError, match="dataset.domain: a choice of domains is not allowed"):
        DatasetConfig(name="t", domain=DomainsConfig())


def test_a_folder_without_a_weight_weighs_as_much_as_a_shipped_domain():
    domains = DomainsConfig(folders={"shop": "/x"})
    assert domains.weights == dict.fromkeys((*SHIPPED, "shop"), 1.0)
    assert DomainsConfig(folders={"shop": "/x"}, weights={"shop": 0.5}).weights == {"shop": 0.5}
    with pytest.raises(ValueError, match="/x is not allowed: x: there is no such folder"):
        make_source(config(folders={"shop": "/x"}), seed=1)


@pytest.mark.sandbox
def test_a_folder_is_drawn_from_as_a_shipped_domain_is(tmp_path):
    folder = copy_hostile(tmp_path)
    line = (folder / "tasks.jsonl").read_text()
    lines = [line.replace('"pay"', f'"pay{n}"', 1).replace("Pay", f"{n}. Pay") for n in range(8)]
    (folder / "tasks.jsonl").write_text("".join(lines))
    folders = {"bank": str(folder)}
    asked = config(weights={"bank": 1.0}, folders=folders, sandbox={"timeout_s": 4})
    source = make_source(asked, seed=1)
    tasks = [source(index, split) for split in ("train", "heldout") for index in range(6)]
    assert {task.id for task in tasks} == {f"bank/pay{n}" for n in range(8)}
    for task in tasks:
        goal = goal_of(task)
        assert (goal.domain.name, goal.domain.origin.options) == ("bank", {"timeout_s": 4})


def test_a_mixture_finds_the_folders_of_its_sources_and_two_folders_of_one_name_are_refused():
    sources = {"one": config(folders={"shop": "/x"}), "two": config(folders={"shop": "/y"})}
    with pytest.raises(ValueError) as caught:
        DatasetConfig(name="m", kind="mix", sources=sources, weights={"one": 1, "two": 1})
    assert str(caught.value) == (
        "dataset.sources.one.domain.folders.shop: /x is not allowed; use one folder and one "
        "sandbox for a name"
    )
    sources["two"] = config(folders={"zoo": "/y"}, sandbox={"timeout_s": 2})
    mix = DatasetConfig(name="m", kind="mix", sources=sources, weights={"one": 1, "two": 1})
    found = {
        name: (one.folder, one.limits.timeout_s) for name, one in mix.catalogue.folders.items()
    }
    assert found == {"shop": ("/x", 5.0), "zoo": ("/y", 2)}


def test_a_mixture_has_the_domains_of_its_sources_that_are_drawn():
    sources = {"goals": config(), "local": DatasetConfig(name="local")}
    weighed = DatasetConfig(name="m", kind="mix", sources=sources, weights={"goals": 1, "local": 1})
    assert weighed.domains == tuple(SHIPPED)
    left_out = DatasetConfig(
        name="m", kind="mix", sources=sources, weights={"goals": 0, "local": 1}
    )
    assert left_out.domains == ()
    assert {
        make_source(weighed, seed=1)(i, "train").answer_kind == "domain" for i in range(40)
    } == {
        True,
        False,
    }
