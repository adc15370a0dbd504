from dataclasses import replace

import pytest
from tests.unit.tool.catalogue import shipped_tools

from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.providers import Providers
from toolorchestra.tool.code_interpreter import CodeInterpreter
from toolorchestra.tool.config import KINDS, ROLES, SIMULATED_KINDS, ToolConfig
from toolorchestra.tool.expert_config import ExpertConfig, RoleConfig
from toolorchestra.tool.function import FunctionTool
from toolorchestra.tool.local_search import LocalSearch
from toolorchestra.tool.registry import OUTSIDE_TOOLS, TOOLS, Services, build_tool
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
    tool = build_tool(name, config, services=None)
    assert isinstance(tool, REAL.get(name, SimulatedExpert))


@pytest.mark.parametrize("name", sorted(REAL))
async def test_real_tools_close_sessions_that_they_never_saw(name):
    config = shipped_tools()[name]
    options = UNSAFE if name == "code_interpreter" else config.options
    tool = build_tool(name, replace(config, options=options), services=None)
    await tool.close_session("episode-0/0")
    await tool.close()


def test_every_kind_is_either_built_or_simulated():
    assert sorted([*TOOLS, *OUTSIDE_TOOLS]) == sorted(KINDS)
    assert sorted(OUTSIDE_TOOLS) == sorted(SIMULATED_KINDS)


@pytest.mark.parametrize("name", sorted(REAL))
def test_unknown_options_are_refused_naming_tool_key_and_what_is_allowed(name):
    config = shipped_tools()[name]
    config = replace(config, options=config.options | {"timout": 3})
    with pytest.raises(ValueError, match=rf"^tool\.{name}\.options: 'timout' is not allowed; use "):
        build_tool(name, config, services=None)


def test_an_option_of_the_wrong_type_is_refused():
    config = replace(shipped_tools()["local_search"], options={"top_k": "three"})
    with pytest.raises(ValueError, match=r"options\.top_k: 'three' is not allowed; use a int"):
        build_tool("local_search", config, services=None)


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
        build_tool("track_parcel", config, services=None)


def services(**options):
    role = RoleConfig(system="Answer.")
    return Services(
        providers=Providers(ProvidersConfig(name="none", providers=options)),
        prompts=ExpertConfig(name="e", roles=dict.fromkeys(ROLES, role)),
        context="task",
    )


@pytest.mark.parametrize("kind", SIMULATED_KINDS)
def test_a_model_that_nobody_serves_is_refused_in_one_sentence_that_says_what_to_do(kind):
    config = ToolConfig(kind=kind, description="Expert.", priced_as="GPT-5", latency_s=1)
    with pytest.raises(ValueError) as refusal:
        build_tool("gpt_5", config, services=services())
    assert str(refusal.value) == (
        "provider.providers: none serves 'GPT-5', which tool.gpt_5 needs; add it to one's models "
        "(served are none), or use toolset.experts=simulated"
    )


def test_a_key_that_is_not_set_is_asked_for_by_name(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    provider = ProviderConfig(
        base_url="http://127.0.0.1:9/v1", key_env="NO_SUCH_KEY", models={"GPT-5": "gpt-5"}
    )
    config = ToolConfig(kind="llm", description="Expert.", priced_as="GPT-5", latency_s=1)
    with pytest.raises(ValueError, match="set the environment variable NO_SUCH_KEY"):
        build_tool("gpt_5", config, services=services(acme=provider))


@pytest.mark.parametrize(
    ("kind", "api", "told"),
    [("llm", "tavily", "as GPT-5 is a model"), ("web_search", "chat", "as it is no search")],
)
def test_a_provider_of_the_other_sort_is_refused(kind, api, told):
    provider = ProviderConfig(api=api, base_url="http://127.0.0.1:9", models={"GPT-5": "gpt-5"})
    config = ToolConfig(kind=kind, description="Expert.", priced_as="GPT-5", latency_s=1)
    with pytest.raises(ValueError, match=told):
        build_tool("gpt_5", config, services=services(acme=provider))
