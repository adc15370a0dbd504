from dataclasses import replace

import pytest
from tests.unit.tool.catalogue import shipped_tools

from toolorchestra.tool.code_interpreter import CodeInterpreter
from toolorchestra.tool.config import KINDS, SIMULATED_KINDS, ToolConfig
from toolorchestra.tool.function import FunctionTool
from toolorchestra.tool.local_search import LocalSearch
from toolorchestra.tool.registry import TOOLS, build_tool
from toolorchestra.tool.simulated import SimulatedExpert

REAL = {
    "code_interpreter": CodeInterpreter,
    "local_search": LocalSearch,
    "track_parcel": FunctionTool,
}
UNSAFE = {"unsafe": "run_without_sandbox"}


def marked(name):
    needs_sandbox = shipped_tools()[name].kind == "code_interpreter"
    return pytest.param(name, marks=pytest.mark.sandbox) if needs_sandbox else name


@pytest.mark.parametrize("name", [marked(name) for name in shipped_tools()])
def test_every_tool_of_the_local_world_is_built_and_closed(name):
    config = shipped_tools()[name]
    tool = build_tool(name, config, is_simulated=config.kind in SIMULATED_KINDS)
    assert isinstance(tool, REAL.get(name, SimulatedExpert))


@pytest.mark.parametrize("name", sorted(REAL))
async def test_real_tools_close_sessions_that_they_never_saw(name):
    config = shipped_tools()[name]
    options = UNSAFE if name == "code_interpreter" else config.options
    tool = build_tool(name, replace(config, options=options), is_simulated=False)
    await tool.close_session("episode-0/0")
    await tool.close()


def test_every_kind_is_either_built_or_simulated():
    assert sorted([*TOOLS, *SIMULATED_KINDS]) == sorted(KINDS)


@pytest.mark.parametrize("name", sorted(REAL))
def test_unknown_options_are_refused_naming_tool_key_and_what_is_allowed(name):
    config = shipped_tools()[name]
    config = replace(config, options=config.options | {"timout": 3})
    with pytest.raises(ValueError, match=rf"^tool\.{name}\.options: 'timout' is not allowed; use "):
        build_tool(name, config, is_simulated=False)


def test_an_option_of_the_wrong_type_is_refused():
    config = replace(shipped_tools()["local_search"], options={"top_k": "three"})
    with pytest.raises(ValueError, match=r"options\.top_k: 'three' is not allowed; use a int"):
        build_tool("local_search", config, is_simulated=False)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"domain": "parcels"}, r"options\.function is missing"),
        ({"domain": "nowhere", "function": "track_parcel"}, "'nowhere'"),
        ({"domain": "parcels", "function": "nothing"}, "'nothing'"),
    ],
)
def test_a_function_that_does_not_exist_is_refused(options, message):
    config = replace(shipped_tools()["track_parcel"], options=options)
    with pytest.raises(ValueError, match=message):
        build_tool("track_parcel", config, is_simulated=False)


@pytest.mark.parametrize("kind", SIMULATED_KINDS)
def test_real_experts_are_refused_in_one_sentence_that_says_what_to_use(kind):
    config = ToolConfig(kind=kind, description="Expert.", priced_as="GPT-5", latency_s=1)
    with pytest.raises(ValueError) as refusal:
        build_tool("gpt_5", config, is_simulated=False)
    assert str(refusal.value) == (
        "toolset.experts: real is not allowed yet: gpt_5 needs GPT-5, and calls to real providers "
        "are not built; use toolset.experts=simulated"
    )
