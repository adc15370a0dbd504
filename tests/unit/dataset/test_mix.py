from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.dataset.tables import config, parquet, rows
from tests.unit.dataset.test_episode import sampler

from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.dataset.mix import BLOCK, mixed, shares
from toolorchestra.dataset.source import make_source
from toolorchestra.types import Task


def source(name):
    def draw(index, split):
        return Task(id=f"{split}-{index}", skill="math", question=f"{name}?", answer="1")

    return draw


def drawn(weights, count, *, seed=1, split="train"):
    draw = mixed({name: source(name) for name in weights}, weights, seed=seed)
    return [draw(index, split).id for index in range(count)]


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 100), min_size=1))
def test_shares_are_whole_sum_up_and_are_off_by_less_than_one(weights):
    found = shares(weights, 1000)
    assert sum(found.values()) == 1000
    for name, weight in weights.items():
        assert abs(found[name] - 1000 * weight / sum(weights.values())) < 1


def test_proportions_hold_exactly_in_every_block():
    ids = drawn({"a": 3.0, "b": 1.0, "c": 0.004}, 3 * BLOCK)
    for block in range(3):
        names = Counter(name[0] for name in ids[block * BLOCK : (block + 1) * BLOCK])
        assert names == {"a": 749, "b": 250, "c": 1}


def test_proportions_hold_nearly_from_the_start():
    names = Counter(name[0] for name in drawn({"a": 1.0, "b": 1.0}, 200))
    assert 70 < names["a"] < 130


def test_each_source_is_gone_through_in_its_own_order_without_a_gap():
    for split in ("train", "heldout"):
        ids = drawn({"a": 2.0, "b": 1.0}, 2500, split=split)
        for name in "ab":
            own = [identity for identity in ids if identity[0] == name]
            assert own == [f"{name}/{split}-{number}" for number in range(len(own))]


def test_a_task_depends_on_seed_split_and_number_alone():
    weights = {"a": 1.0, "b": 1.0}
    draw = mixed({name: source(name) for name in weights}, weights, seed=1)
    backwards = [draw(index, "train").id for index in reversed(range(0, 12_000, 50))][::-1]
    assert backwards == drawn(weights, 12_000)[::50]
    others = [drawn(weights, 50, seed=2), drawn(weights, 50, split="heldout")]
    sides = [[identity[0] for identity in ids] for ids in [drawn(weights, 50), *others]]
    assert sides[0] != sides[1] and sides[0] != sides[2]


@pytest.fixture
def mix(own_cache, tmp_path):
    sources = {
        "first": config(parquet(tmp_path / "a.parquet", rows(50)), name="x"),
        "second": config(parquet(tmp_path / "b.parquet", rows(80, start=100)), name="x"),
        "local": DatasetConfig(name="local"),
        "absent": config(tmp_path / "none.parquet"),
    }
    weights = {"first": 1, "second": 2, "local": 1, "absent": 0}
    return DatasetConfig(name="m", kind="mix", sources=sources, weights=weights)


def test_each_split_is_drawn_from_that_split_and_nothing_is_in_both(mix):
    draw = make_source(mix, seed=1)
    asked = {
        split: {draw(index, split).question for index in range(600)}
        for split in ("train", "heldout")
    }
    assert not asked["train"] & asked["heldout"]
    assert len({text for text in asked["train"] | asked["heldout"] if "+ 1?" in text}) >= 130


def test_episodes_are_drawn_from_a_mix(mix):
    draw = sampler(tasks=make_source(mix, seed=1))
    episodes = [draw(index) for index in range(400)]
    names = Counter(episode.task.id.split("/")[0] for episode in episodes)
    assert set(names) == {"first", "second", "local"}
    assert names["second"] == pytest.approx(200, abs=40)
    again = sampler(tasks=make_source(mix, seed=1))
    assert again(399) == episodes[399]
    heldout = sampler(tasks=make_source(mix, seed=1), split="heldout")(0)
    assert heldout.task.question not in {episode.task.question for episode in episodes}
