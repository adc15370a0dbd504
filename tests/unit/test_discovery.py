import json
import sys
from dataclasses import replace

import pytest
import yaml
from omegaconf import OmegaConf
from tests.composed import composed, options_of
from tests.unit.mcp.servers import LIBRARY, ROGUE, no_children, starts

from toolorchestra.discovery import FILE, discover
from toolorchestra.mcp import stdio
from toolorchestra.opening import opened
from toolorchestra.provider.cassette import Cassette
from toolorchestra.provider.config import CassetteConfig
from toolorchestra.worlds import check_worlds

SECRET = "sesame-1234"
ANY = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(stdio, "GRACE_S", 0.3)


def with_rogue(folder, *more):
    key = "toolset.mcp.example"
    return (
        "tool@toolset.tools=[track_parcel]",
        "+mcp@toolset.mcp=example",
        f"{key}.command=python",
        f"{key}.args=[-S,{ROGUE},{folder}]",
        f"{key}.exclude=[find.author]",
        "toolset.min_tools=1",
        "toolset.max_tools=2",
        "benchmark=none",
        *more,
    )


def has(folder, *names, schema=ANY):
    # the example has something to say of find.author, which must thus be there
    tools = [
        {"name": name, "description": "Theirs.", "inputSchema": schema}
        for name in (*names, "find.author")
    ]
    (folder / "tools.json").write_text(json.dumps(tools))


def tools_of(config, resume=None):
    with opened(config, check=check_worlds, resume=resume) as opening:
        return list(opening.options.toolset.tools)


def test_the_example_takes_in_a_real_server_once_its_command_is_given():
    options = options_of(
        "+mcp@toolset.mcp=example",
        f"toolset.mcp.example.command={sys.executable}",
        f"toolset.mcp.example.args=[{LIBRARY}]",
    )
    check_worlds(options)
    assert not any(name.startswith("library_") for name in options.toolset.tools)
    got, found = discover(options, Cassette(CassetteConfig()))
    assert check_worlds(got)
    theirs = {name: tool for name, tool in got.toolset.tools.items() if tool.kind == "mcp"}
    assert list(theirs) == [
        "library_borrow",
        "library_cover",
        "library_find_author",
        "library_tell_secret",
    ]
    author = theirs["library_find_author"]
    assert (author.description, author.latency_s) == ("Finds who wrote a book.", 1)
    assert author.odds("lookup").right == 0.6
    assert author.parameters["required"] == ["title"]
    assert theirs["library_borrow"].priced_as == "tavily search basic"
    assert {tool["name"] for tool in found["seen"]["example"]} == set(theirs)
    assert no_children()


def test_a_run_without_servers_is_left_as_it_is(tmp_path):
    options = options_of()
    assert discover(options, Cassette(CassetteConfig())) == (options, {})
    config = composed(output_dir=tmp_path / "run")
    assert len(tools_of(config)) == 11
    assert not (tmp_path / "run" / FILE).exists()


def test_a_cassette_tells_the_tools_where_there_is_no_server(tmp_path):
    has(tmp_path, "b", "a")
    path = tmp_path / "tape.jsonl"
    config = with_rogue(tmp_path)
    names, tools = [], []
    for mode in ("record", "replay"):
        cassette = Cassette(CassetteConfig(mode=mode, path=str(path)))
        options, found = discover(options_of(*config), cassette)
        names.append(list(options.toolset.tools))
        tools.append(found)
        has(tmp_path, "of", "another", "kind")
    assert names[0] == names[1] == ["track_parcel", "library_a", "library_b"]
    assert tools[0] == tools[1]
    assert len(starts(tmp_path)) == 1


def test_composing_and_checking_start_nothing(tmp_path):
    check_worlds(options_of(*with_rogue(tmp_path)))
    assert not (tmp_path / "starts").exists()


def test_a_run_keeps_what_its_servers_have_and_goes_on_while_that_holds(tmp_path):
    has(tmp_path, "b", "a")
    config = composed(*with_rogue(tmp_path), output_dir=tmp_path / "run")
    names = ["track_parcel", "library_a", "library_b"]
    assert tools_of(config) == names
    kept = json.loads((tmp_path / "run" / FILE).read_text())
    assert kept["seen"]["example"][0] == {
        "name": "library_a",
        "remote_name": "a",
        "description": "Theirs.",
        "parameters": ANY | {"additionalProperties": False},
    }
    has(tmp_path, "a", "b")  # another order
    assert tools_of(config, resume=str(tmp_path / "run")) == names
    assert len(starts(tmp_path)) == 2


@pytest.mark.parametrize(
    "names, schema, changed",
    [
        (("a",), ANY, "library_b"),
        (("a", "b", "c"), ANY, "library_c"),
        (("a", "b"), {"type": "object"}, "library_a, library_b"),
    ],
)
def test_a_run_whose_servers_have_changed_does_not_go_on(names, schema, changed, tmp_path):
    has(tmp_path, "a", "b")
    config = composed(*with_rogue(tmp_path), output_dir=tmp_path / "run")
    tools_of(config)
    has(tmp_path, *names, schema=schema)
    with pytest.raises(ValueError, match="^resume: the tools of the MCP server example") as error:
        tools_of(config, resume=str(tmp_path / "run"))
    assert f"({changed})" in str(error.value) and "\n" not in str(error.value)
    has(tmp_path, "a", "b")
    assert len(tools_of(config, resume=str(tmp_path / "run"))) == 3


@pytest.mark.parametrize(
    "more, message",
    [
        (["toolset.mcp.example.env=[NO_SUCH_KEY]"], "variable NO_SUCH_KEY is not set"),
        (["toolset.mcp.example.priced_as=gold"], "'gold' is in none of"),
        (["toolset.mcp.example.command=no_such_program"], "'no_such_program' is not found"),
        (
            ["toolset.mcp.example.call_timeout_s=60", "rollout.tool_timeout_s=60"],
            "use less than rollout.tool_timeout_s, 60",
        ),
        (["+toolset.mcp.example.tools={a: {priced_as: gold}}"], "'gold' is in none of"),
    ],
)
def test_what_can_be_known_to_fail_fails_before_anything_starts(more, message, tmp_path):
    config = composed(*with_rogue(tmp_path, *more), output_dir=tmp_path / "run")
    with pytest.raises(ValueError, match=message):
        tools_of(config)
    assert not (tmp_path / "starts").exists() and not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "more, message",
    [
        (["toolset.mcp.example.include=[z]"], "example.include: 'z' is not allowed"),
        (["toolset.mcp.example.start_timeout_s=0.3"], "MCP server example cannot be used"),
        (["toolset.max_tools=9"], "toolset.max_tools: 9 is not allowed; use"),
        (
            ["+preference.pairs={mine: {instruction: Go., tools: {library_z: 1}}}"],
            "preference.pairs.mine.tools: 'library_z'",
        ),
    ],
)
def test_what_a_server_does_not_have_fails_before_there_is_a_folder(more, message, tmp_path):
    has(tmp_path, "a", "b")
    if "start_timeout_s" in more[0]:
        more = [*more, f"toolset.mcp.example.args=[-S,{ROGUE},{tmp_path},mute]"]
    config = composed(*with_rogue(tmp_path, *more), output_dir=tmp_path / "run")
    with pytest.raises(ValueError, match=message):
        tools_of(config)
    assert not (tmp_path / "run").exists()


def test_a_preference_over_a_servers_tool_is_allowed(tmp_path):
    has(tmp_path, "a")
    pair = "+preference.pairs={mine: {instruction: Go., tools: {library_a: 1}}}"
    config = composed(*with_rogue(tmp_path, pair), output_dir=tmp_path / "run")
    assert "library_a" in tools_of(config)


def test_no_file_of_a_run_holds_a_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("ROGUE_KEY", SECRET)
    has(tmp_path, "a")
    config = composed(
        *with_rogue(tmp_path, "toolset.mcp.example.env=[ROGUE_KEY]"), output_dir=tmp_path / "run"
    )
    tools_of(config)
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert {"config.yaml", "run.json", FILE} <= {path.name for path in files}
    assert not any("sesame" in path.read_text() for path in files)
    assert (
        "ROGUE_KEY" in yaml.safe_load(OmegaConf.to_yaml(config))["toolset"]["mcp"]["example"]["env"]
    )


def test_a_name_that_is_another_tool_in_the_other_world_is_refused(tmp_path):
    has(tmp_path, "a")
    seen = options_of(*with_rogue(tmp_path, "benchmark=local", "benchmark.num_episodes=2"))
    config = seen.toolset.mcp["example"]
    for changed, is_allowed in ((config, True), (replace(config, max_attempts=1), False)):
        other = replace(seen.toolset, name="other", mcp={"example": changed})
        transfer = replace(seen.benchmark.transfer, toolset=other)
        options = replace(seen, benchmark=replace(seen.benchmark, transfer=transfer))
        if is_allowed:
            got, found = discover(options, Cassette(CassetteConfig()))
            assert set(found) == {"seen", "transfer"}
            assert got.benchmark.transfer.toolset.tools.keys() == got.toolset.tools.keys()
        else:
            with pytest.raises(ValueError, match=r"^toolset\.mcp: the name 'library_a' .*prefix"):
                discover(options, Cassette(CassetteConfig()))
