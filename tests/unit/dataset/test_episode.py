import json

import pytest

from toolorchestra.codec import from_json, to_json
from toolorchestra.dataset.episode import EpisodeSampler
from toolorchestra.preference.config import (
    TABLE_KINDS,
    PairConfig,
    PreferenceConfig,
    TableConfig,
)
from toolorchestra.preference.file import to_lines
from toolorchestra.preference.pairs import WORDINGS
from toolorchestra.preference.table import Pair, named
from toolorchestra.preference.template import write_pairs
from toolorchestra.preference.vector import check_vector
from toolorchestra.pricing.config import PriceConfig, PricingConfig, ScheduleConfig
from toolorchestra.tool.config import Odds, ToolConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.front_config import AliasConfig, FrontConfig
from toolorchestra.toolset.wishes import traits_of
from toolorchestra.types import Episode, Preference, Task

KINDS = dict.fromkeys(("balanced", "frugal", "hurried", "thorough", "tool"), 1.0)


def tool(priced_as, kind="llm", **profile):
    odds = {skill: Odds(right=right) for skill, right in profile.items()}
    return ToolConfig(
        kind=kind,
        description="Helps.",
        priced_as=priced_as,
        latency_s=2.0,
        output_tokens=1000,
        profile=odds,
    )


TOOLS = {
    "big": tool("Big", math=0.9),
    "small": tool("Small", math=0.3),
    "masked": tool("Nobody", math=1.0),
    "parcels": tool("Small", "function"),
}


def price(rate):
    return PriceConfig(unit="mtok", input=rate, output=rate, source="a page", date="2026")


def sampler(*, seed=1, split="train", skill="math", preference=None, **changes):
    def source(index, wanted):
        return Task(
            id=f"{wanted}-{index}", skill=skill, question=f"What is {index}?", answer=str(index)
        )

    prices = {"Big": price(10.0), "Small": price(1.0), "Policy": price(0.2)}
    fields = {
        "toolset": ToolsetConfig(name="t", tools=TOOLS, min_tools=2, max_tools=3),
        "pricing": PricingConfig(
            name="p",
            schedules={
                "one": ScheduleConfig(prices=prices, unpriced=["Nobody"]),
                "two": ScheduleConfig(prices=prices),
            },
            draw=["one", "two"],
            missing="mask",
            jitter=2.0,
        ),
        "preference": preference or PreferenceConfig(name="x", kinds=KINDS),
        "tasks": source,
        "policy": "Policy",
        "seed": seed,
        "split": split,
    }
    return EpisodeSampler(**(fields | changes))


def test_the_same_seed_draws_the_same_episodes_in_any_order():
    forwards = [sampler()(index) for index in range(5)]
    draw = sampler()
    assert forwards == [draw(index) for index in reversed(range(5))][::-1]


def test_another_seed_split_or_number_draws_another_episode():
    first = sampler()(0)
    others = [sampler()(1), sampler(seed=2)(0), sampler(split="heldout")(0)]
    assert len({first.seed, *(other.seed for other in others)}) == 4
    assert [other.id for other in others] == ["train-000001", "train-000000", "heldout-000000"]
    assert [other.task.id for other in others] == ["train-1", "train-0", "heldout-0"]


def test_an_episode_can_be_written_down_and_played_again():
    for index in range(20):
        episode = sampler()(index)
        text = json.dumps(to_json(episode))
        assert from_json(Episode, json.loads(text)) == episode


def test_fronts_go_before_what_was_drawn_and_one_of_them_answers():
    aliases = {f"answer-{name}": AliasConfig(tool=name) for name in ("small", "masked")}
    search = {f"search-{name}": AliasConfig(tool=name) for name in ("big", "parcels")}
    said = {"description": "Helps.", "argument": "Who."}
    fronts = {
        "search": FrontConfig(**said, gives="document", aliases=search),
        "answer": FrontConfig(**said, gives="answer", aliases=aliases),
    }
    toolset = ToolsetConfig(name="t", tools=TOOLS, min_tools=1, max_tools=2, fronts=fronts)
    draw = sampler(toolset=toolset)
    sizes = set()
    for index in range(40):
        episode = draw(index)
        behind = {alias.tool for front in episode.fronts for alias in front.aliases.values()}
        assert behind == {tool.name for tool in episode.tools}
        assert episode.fronts[-1].gives == "answer"
        sizes.add(len(behind))
        assert from_json(Episode, json.loads(json.dumps(to_json(episode)))) == episode
    assert sizes == {1, 2}


def words(preference):
    """All wordings of a kind in each split, with the tool that the preference names filled in."""
    wanted = next(iter(preference.tools), "")
    return {
        split: {text.format(tool=wanted) for text in WORDINGS[preference.kind][split]}
        for split in ("train", "eval")
    }


@pytest.mark.parametrize(("split", "side"), [("train", "train"), ("heldout", "eval")])
def test_held_out_episodes_have_wordings_of_their_own(split, side):
    draw = sampler(split=split)
    for index in range(40):
        preference = draw(index).preference
        assert preference.instruction in words(preference)[side]


def test_masked_tools_are_never_offered_and_every_other_one_is():
    draw = sampler()
    offered = [[tool.name for tool in draw(index).tools] for index in range(60)]
    assert {name for names in offered for name in names} == {"big", "small", "parcels"}
    assert {len(names) for names in offered} == {2, 3}
    assert all(len(set(names)) == len(names) for names in offered)
    assert len({tuple(names) for names in offered if len(names) == 3}) > 3  # in random order


def test_a_solvable_task_always_meets_an_able_tool():
    draw = sampler()
    for index in range(60):
        episode = draw(index)
        assert episode.is_solvable
        assert "big" in [tool.name for tool in episode.tools]


def test_what_no_tool_can_solve_says_so():
    assert not any(sampler(skill="poetry")(index).is_solvable for index in range(10))


def test_the_policys_own_price_is_in_every_episode_as_listed():
    for index in range(10):
        episode = sampler()(index)
        assert episode.policy_price.usd_per_output_mtok == 0.2
        assert episode.pricing in ("one", "two")


def test_a_tools_typical_call_costs_what_its_own_price_says():
    # "What is 0?" is 10 characters, 3 tokens, and 1000 come back: 1003 tokens at one rate.
    for offered in sampler()(0).tools:
        rate = offered.price.usd_per_output_mtok
        assert offered.call_cost_usd == pytest.approx(1003 * rate / 1e6)
        assert offered.latency_s == 2.0
        listed = 10.0 if offered.name == "big" else 1.0
        assert listed / 2 <= rate <= listed * 2


def test_simulated_tools_are_shown_as_such():
    shown = {tool.name: tool.shown_as for i in range(20) for tool in sampler()(i).tools}
    assert shown == {"big": "sim/Big", "small": "sim/Small", "parcels": "parcels"}


def test_a_pair_of_ones_own_weighs_only_what_is_offered():
    own = PairConfig(instruction="Use big or masked.", tools={"big": 1.0, "masked": 1.0})
    preference = PreferenceConfig(name="x", kinds={"mine": 1.0}, pairs={"mine": own})
    drawn = sampler(preference=preference)(0).preference
    assert (drawn.instruction, drawn.tools) == ("Use big or masked.", {"big": 1.0})


def test_a_policy_without_a_price_is_refused():
    with pytest.raises(ValueError, match="model.priced_as: 'Nobody' has no price"):
        sampler(policy="Nobody")(0)


@pytest.mark.parametrize(("split", "side"), [("train", "train"), ("heldout", "eval")])
def test_wishes_of_the_table_come_from_their_split_and_are_about_what_is_offered(split, side):
    preference = PreferenceConfig(name="x", kinds=dict.fromkeys(TABLE_KINDS, 1.0))
    pairs = write_pairs(traits_of(TOOLS), preference.table)
    words = {pair.preference.instruction for pair in pairs if pair.split == side}
    draw = sampler(split=split, preference=preference)
    kinds = set()
    for index in range(60):
        episode = draw(index)
        offered = [tool.name for tool in episode.tools]
        assert episode.preference.instruction in words
        assert set(named(TOOLS, episode.preference.instruction)) <= set(offered)
        check_vector(episode.preference, offered)
        kinds.add(episode.preference.kind)
    assert kinds >= {"cost", "latency", "like", "dislike", "combination"}


def test_a_table_from_a_file_is_drawn_from_and_a_pair_over_other_tools_is_not(tmp_path):
    wishes = [("Take gone.", {"gone": 1.0}), ("Be nice.", {})]
    path = tmp_path / "pairs.jsonl"
    lines = [
        Pair(
            split="train",
            preference=Preference(
                kind="like", instruction=text, outcome=1.0, cost=0.5, latency=0.0, tools=tools
            ),
        )
        for text, tools in wishes
    ]
    path.write_text(to_lines(lines))
    preference = PreferenceConfig(name="x", kinds={"like": 1}, table=TableConfig(file=str(path)))
    draw = sampler(preference=preference)
    assert {draw(index).preference.instruction for index in range(10)} == {"Be nice."}
    held_out = sampler(preference=preference, split="heldout")
    assert held_out(0).preference.kind == "none"  # the file has no pair for evaluation
