"""The shipped catalogue: every toolset, pricing and preference composes and means what it says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, get_type_hints

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, OmegaConf

from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.preference.pairs import draw_preference
from toolorchestra.preference.vector import check_preference
from toolorchestra.pricing.check import check_pricing
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.draw import draw_prices
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.offer import offer, shown_as
from toolorchestra.toolset.select import select
from toolorchestra.toolset.wishes import build_table

CONF = Path(__file__).parents[2] / "conf"
SKILLS = ("math", "logic", "code", "lookup", "multihop", "service")
POLICIES = ("tiny-policy", "Qwen3-8B")


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


@dataclass
class Root:
    """The three groups of the catalogue under their schemas."""

    toolset: ToolsetConfig
    pricing: PricingConfig
    preference: PreferenceConfig


DEFAULTS = {"toolset": "local", "pricing": "official", "preference": "mixed"}


@pytest.fixture(scope="module", autouse=True)
def conf() -> Iterator[None]:
    """Stores one root a group, as composing a single group is several times faster."""
    schemas = {f.name: get_type_hints(Root)[f.name] for f in fields(Root)}
    for names in (tuple(schemas), *((name,) for name in schemas)):
        defaults = ["_self_", *({name: DEFAULTS[name]} for name in names)]
        root = make_dataclass(
            "GroupRoot",
            [
                ("defaults", list[Any], field(default_factory=lambda chosen=defaults: chosen)),
                *((name, schemas[name], field(default=MISSING)) for name in names),
            ],
        )
        ConfigStore.instance().store(name="catalogue_" + "_".join(names), node=root)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


@cache
def build(group: str, *overrides: str) -> Any:
    """Composes and checks one group; cached, as the tests only read."""
    root = OmegaConf.to_object(compose(f"catalogue_{group}", overrides=list(overrides)))
    return getattr(root, group)


def combine(toolset: str, pricing: str) -> Root:
    """Options of groups that were composed apart, as groups do not read one another."""
    return Root(
        toolset=build("toolset", f"toolset={toolset}"),
        pricing=build("pricing", f"pricing={pricing}"),
        preference=build("preference"),
    )


def models(root: Root) -> dict[str, str]:
    return {name: tool.charged_as for name, tool in root.toolset.tools.items()}


def masked(root: Root) -> set[str]:
    notes = check_pricing(root.pricing, models=models(root), policy="tiny-policy")
    return {note.split(" is masked")[0] for note in notes if " is masked" in note}


def borrowed(root: Root) -> set[str]:
    notes = check_pricing(root.pricing, models=models(root), policy="tiny-policy")
    return {note.split(" pays")[0] for note in notes if " pays " in note}


def test_the_options_are_those_that_the_documentation_names() -> None:
    toolsets = ["basic", "full", "local", "none", "paper", "pilot", "unseen", "upstream"]
    assert options("toolset") == toolsets
    assert options("pricing") == ["alt", "fireworks", "nebius", "novita", "official", "varied"]
    wishes = ["frugal", "hurried", "mixed", "none", "pairs", "thorough", "tool"]
    assert options("preference") == wishes


def test_the_three_groups_compose_together() -> None:
    config = compose("catalogue_toolset_pricing_preference", overrides=["pricing=alt"])
    root = OmegaConf.to_object(config)
    assert (root.toolset.name, root.pricing.name, root.preference.name) == (
        "local",
        "alt",
        "mixed",
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("toolset", "pricing"), list(itertools.product(options("toolset"), options("pricing")))
)
def test_every_toolset_composes_with_every_pricing_and_is_priced(
    toolset: str, pricing: str, policy: str
) -> None:
    root = combine(toolset, pricing)
    assert (root.toolset.name, root.pricing.name) == (toolset, pricing)
    check_pricing(
        root.pricing, models=models(root), policy=policy, min_tools=root.toolset.min_tools
    )
    book = build_price_book(root.pricing)
    for schedule in root.pricing.draw:
        for name, tool in root.toolset.tools.items():
            price = book.find(tool.priced_as, schedule=schedule)
            if price is None:
                assert name in {"openmath_llama_2_70b", "deepseek_math_7b"}
                continue
            offered = offer(name, tool, question="x" * 40, price=price, is_simulated=True)
            is_free = price.source == "runs in this process"
            assert (offered.call_cost_usd == 0) == is_free
            assert price.source and price.date


@pytest.mark.parametrize("preference", options("preference"))
@pytest.mark.parametrize("toolset", options("toolset"))
def test_every_preference_composes_with_every_toolset(preference: str, toolset: str) -> None:
    wanted = build("preference", f"preference={preference}")
    chosen = build("toolset", f"toolset={toolset}")
    tools = chosen.on_offer
    assert wanted.name == preference
    if (toolset, preference) == ("none", "tool"):
        with pytest.raises(ValueError, match="'tool' alone is not allowed"):
            check_preference(wanted, tools)
        return
    check_preference(wanted, tools)
    table = build_table(wanted, chosen) if wanted.uses_table else None
    drawn = draw_preference(wanted.kinds, list(tools), Random(0), table=table)
    assert drawn.kind in wanted.kinds
    if len(wanted.kinds) == 1:
        assert drawn.kind == preference


def test_unseen_tools_under_alt_prices_mask_exactly_what_nobody_sells() -> None:
    root = combine("unseen", "alt")
    assert masked(root) == {"openmath_llama_2_70b", "deepseek_math_7b"}


def test_unseen_tools_under_alt_prices_borrow_exactly_what_deepinfra_does_not_sell() -> None:
    root = combine("unseen", "alt")
    assert borrowed(root) == {
        "o3_mini_query",
        "gpt_4o_query",
        "codestral_22b_code",
        "the policy",
    }


def test_masking_instead_of_borrowing_hides_what_deepinfra_does_not_sell() -> None:
    pricing = build("pricing", "pricing=alt", "pricing.missing=mask")
    root = replace(combine("unseen", "alt"), pricing=pricing)
    assert masked(root) == {
        "o3_mini_query",
        "gpt_4o_query",
        "codestral_22b_code",
        "openmath_llama_2_70b",
        "deepseek_math_7b",
    }


def test_official_prices_of_the_local_toolset_are_all_its_own() -> None:
    assert borrowed(combine("local", "official")) == {"the policy"}


def test_the_tiny_policys_price_names_its_origin() -> None:
    price = build_price_book(build("pricing")).find("tiny-policy", schedule="official")
    assert price is not None
    assert price.borrowed_from == "together size tier <=4B"
    assert (price.usd_per_input_mtok, price.usd_per_output_mtok) == (0.1, 0.1)


@pytest.mark.parametrize(
    ("schedule", "model", "figures", "date"),
    [
        ("official", "GPT-5", (1.25, 10, 0.125), "2025-11-22"),
        ("official", "GPT-5-mini", (0.25, 2, 0.025), "2025-11-22"),
        ("official", "Claude Opus 4.1", (15, 75, 1.5), "2025-11-22"),
        ("official", "DeepSeek-R1", (3, 7, None), "2025-11-22"),
        ("official", "Qwen2.5-Coder-32B-Instruct", (0.8, 0.8, None), "2026-01-24"),
        ("official", "Qwen2.5-Math-72B", (0.574, 1.721, None), "2026-01-12"),
        ("official", "Llama-3.3-70B-Instruct", (0.88, 0.88, None), "2025-11-22"),
        ("deepinfra", "Llama-3.1-8B-Instruct", (0.03, 0.05, None), "2025-11-22"),
        ("deepinfra", "Claude Opus 4.1", (16.5, 82.5, None), "2025-11-22"),
        ("deepinfra", "Qwen3-Embedding-8B", (0.01, 0, None), "2026-08-21"),
        ("fireworks", "DeepSeek-R1", (3, 8, None), "2025-11-22"),
        ("fireworks", "starcoder2-15b", (0.2, 0.2, None), "2026-11-19..21"),
        ("nebius", "Llama-3.1-Nemotron-Ultra-253B", (0.6, 1.8, None), "2026-11-19..21"),
        ("nebius", "gemma-3-27b-it", (0.1, 0.3, 0.04), "2026-11-19..21"),
        ("novita", "Qwen3-8B", (0.035, 0.138, None), "2026-05-20..24"),
    ],
)
def test_listed_prices_are_the_sources_own(
    schedule: str, model: str, figures: tuple[float, float, float | None], date: str
) -> None:
    # copied by hand from the collected price table, USD per million tokens
    prices = yaml.safe_load((CONF / f"pricing/schedule/{schedule}.yaml").read_text())
    price = prices[schedule]["prices"][model]
    assert (price["input"], price["output"], price.get("cached_input")) == figures
    assert price["unit"] == "mtok"
    assert price["date"] == date


def test_services_cost_what_their_sources_say() -> None:
    book = build_price_book(build("pricing"))
    search = book.find("tavily search basic", schedule="official")
    interpreter = book.find("code_interpreter", schedule="official")
    assert search is not None and search.usd_per_call == 0.008
    assert interpreter is not None and interpreter.usd_per_second == pytest.approx(8.3e-6)


def test_a_tool_file_holds_one_tool_of_its_own_name() -> None:
    for path in (CONF / "tool").glob("*.yaml"):
        assert list(yaml.safe_load(path.read_text())) == [path.stem]


def test_every_tool_file_is_offered_by_some_toolset() -> None:
    offered = {
        name
        for option in options("toolset")
        for name in build("toolset", f"toolset={option}").tools
    }
    assert offered == set(options("tool"))


def test_toolsets_hold_what_the_paper_lists() -> None:
    basic = {"web_search", "local_search", "code_interpreter", "track_parcel"}
    full = set(build("toolset", "toolset=full").tools)
    unseen = set(build("toolset", "toolset=unseen").tools)
    assert set(build("toolset", "toolset=basic").tools) == basic
    assert sum(name.endswith("_query") for name in full) == 9
    assert sum(name.endswith("_code") for name in full) == 4
    assert len(full) == 4 + 9 + 4 + 2 + 8
    assert len(unseen) == 4 + 3 + 3 + 2 + 3
    assert full & unseen == basic


@pytest.mark.parametrize("option", options("toolset"))
def test_what_the_policy_reads_of_a_tool_is_short_and_marked(option: str) -> None:
    tools = build("toolset", f"toolset={option}")
    for name, tool in tools.tools.items():
        assert len(tool.description.split()) <= 6
        assert set(tool.profile) <= set(SKILLS)
        shown = shown_as(name, tool, is_simulated=tools.is_simulated(name))
        assert shown.startswith("sim/") == (tool.kind in ("llm", "web_search"))
    names = [shown_as(n, t, is_simulated=tools.is_simulated(n)) for n, t in tools.tools.items()]
    assert len(set(names)) == len(names)


def test_only_the_domain_function_can_serve_the_domain() -> None:
    for name, tool in build("toolset", "toolset=full").tools.items():
        assert tool.odds("service").right == (1.0 if name == "track_parcel" else 0.0)


@pytest.mark.parametrize("option", ["local", "full", "unseen"])
@pytest.mark.parametrize("skill", SKILLS)
def test_every_episode_of_a_shipped_toolset_is_solvable(option: str, skill: str) -> None:
    root = combine(option, "varied")
    book = build_price_book(root.pricing)
    tools = root.toolset.tools
    for seed in range(40):
        rng = Random(seed)
        drawn = draw_prices(
            book,
            schedules=root.pricing.draw,
            jitter=root.pricing.jitter,
            models=models(root),
            policy="tiny-policy",
            rng=rng,
        )
        selection = select(
            tools,
            skill=skill,
            min_tools=root.toolset.min_tools,
            max_tools=root.toolset.max_tools,
            rng=rng,
            prices=drawn.tools,
        )
        assert selection.is_solvable
        assert max(tools[name].odds(skill).right for name in selection.names) >= 0.5
        assert 3 <= len(selection.names) <= 6


def test_the_basic_tools_alone_say_that_they_cannot_do_mathematics() -> None:
    toolset = build("toolset", "toolset=basic")
    selection = select(
        toolset.tools,
        skill="math",
        min_tools=2,
        max_tools=4,
        rng=Random(0),
        prices=toolset.tools,
    )
    assert not selection.is_solvable


def test_a_list_of_tools_on_the_command_line_replaces_the_toolset() -> None:
    toolset = build(
        "toolset",
        "tool@toolset.tools=[gpt_5, web_search]",
        "toolset.min_tools=1",
        "toolset.max_tools=2",
    )
    assert list(toolset.tools) == ["gpt_5", "web_search"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("toolset.min_tools=0", "toolset.min_tools: 0 is not allowed"),
        ("toolset.max_tools=99", "toolset.max_tools: 99 is not allowed"),
        ("toolset.experts=fake", "toolset.experts: 'fake' is not allowed"),
        ("toolset.tools.gpt_5.kind=lmm", "tool.kind: 'lmm' is not allowed"),
        ("toolset.tools.gpt_5.latency_s=-1", "tool.latency_s: -1.0 is not allowed"),
        ("pricing.jitter=0.5", "pricing.jitter: 0.5 is not allowed"),
        ("pricing.draw=[deepinfra]", "pricing.draw: 'deepinfra' is not allowed"),
        ("pricing.schedules.official.prices.GPT-5.input=-1", "GPT-5.input: -1.0 is not allowed"),
        ("pricing.schedules.official.prices.GPT-5.unit=token", "is the unit right"),
        ("preference.kinds.frugal=-1", "preference.kinds.frugal: -1.0 is not allowed"),
        (
            "+preference.pairs={mine: {instruction: Mine, cost: 2.0}}",
            "preference.pairs.mine.cost: 2.0 is not allowed",
        ),
    ],
)
def test_a_bad_value_on_the_command_line_fails_with_its_key(override: str, message: str) -> None:
    with pytest.raises(ValueError) as fault:
        build(override.lstrip("+").split(".")[0], override)
    assert message in str(fault.value)


def test_a_pair_of_ones_own_can_be_given_on_the_command_line() -> None:
    wanted = build(
        "preference",
        "preference=none",
        "+preference.pairs={mine: {instruction: Stay local., tools: {local_search: 1}}}",
        "+preference.kinds.mine=1",
        "preference.kinds.none=0",
    )
    assert wanted.kinds == {"none": 0, "mine": 1}
    assert wanted.pairs["mine"].tools == {"local_search": 1}
    check_preference(wanted, build("toolset", "toolset=local").tools)
    with pytest.raises(ValueError, match="'local_search' is not allowed, as it is not offered"):
        check_preference(wanted, ["gpt_5"])


def test_a_misspelt_model_is_refused_when_the_config_is_built() -> None:
    toolset = build("toolset", "toolset.tools.gpt_5.priced_as=GPT5")
    root = replace(combine("local", "official"), toolset=toolset)
    with pytest.raises(ValueError, match=r"'GPT5' is in none of .*near it: 'GPT-5'"):
        check_pricing(root.pricing, models=models(root), policy="tiny-policy")


@pytest.mark.parametrize("path", sorted((CONF / "pricing/schedule").glob("*.yaml")))
def test_every_schedule_has_a_version_no_older_than_its_figures(path: Path) -> None:
    (schedule,) = yaml.safe_load(path.read_text()).values()
    days = [price["date"][:10] for price in schedule["prices"].values()]
    assert all(day <= schedule["version"] for day in days if day[:2] == "20")
