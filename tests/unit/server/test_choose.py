"""Which services are chosen, and the commands that start them."""

from __future__ import annotations

import pytest

from toolorchestra.server.choose import choose, program_of, served_elsewhere
from toolorchestra.server.config import ServerConfig, ServiceConfig
from toolorchestra.tool.config import ToolConfig
from toolorchestra.toolset.config import ToolsetConfig

SERVER = ServerConfig(
    services={
        "org/Large": ServiceConfig(tools=["large", "large_query"], tensor_parallel=4),
        "org/Small": ServiceConfig(tools=["small"], max_model_len=4096, args=["--seed", "1"]),
        "search": ServiceConfig(program=["{python}", "s.py", "--listen", "{host}:{port}"]),
    }
)


def toolset(*names, kind="llm"):
    tool = ToolConfig(kind=kind, description="d", priced_as="p", latency_s=1)
    return ToolsetConfig(name="mine", tools=dict.fromkeys(names, tool), min_tools=1, max_tools=1)


def test_a_service_is_started_once_for_all_its_tools_and_others_are_left_out():
    assert list(choose(SERVER, toolset("large", "large_query", "gpt"), [])) == ["org/Large"]
    assert served_elsewhere(SERVER, toolset("large", "gpt")) == ["gpt"]
    assert served_elsewhere(SERVER, toolset("finder", kind="local_search")) == []


def test_names_of_tools_or_services_replace_the_toolset():
    only = ["small", "search"]
    assert list(choose(SERVER, toolset("large"), only)) == ["org/Small", "search"]
    assert list(choose(SERVER, toolset("gpt"), ["org/Large"])) == ["org/Large"]


def test_an_unknown_name_and_a_toolset_without_servers_are_refused():
    with pytest.raises(ValueError, match="only: 'gpt' is not allowed; use large, large_query, org"):
        choose(SERVER, toolset("large"), ["gpt"])
    with pytest.raises(ValueError, match="toolset: 'mine' has no tool that server.services answer"):
        choose(SERVER, toolset("gpt"), [])


def test_a_model_is_served_by_vllm_under_its_own_name():
    assert " ".join(program_of(SERVER, "org/Large")) == (
        "{python} -m vllm.entrypoints.openai.api_server --model org/Large "
        "--served-model-name org/Large --host {host} --port {port} --tensor-parallel-size 4"
    )
    assert program_of(SERVER, "org/Small")[-4:] == ("--max-model-len", "4096", "--seed", "1")


def test_a_service_may_have_a_program_of_its_own():
    assert program_of(SERVER, "search") == ("{python}", "s.py", "--listen", "{host}:{port}")
