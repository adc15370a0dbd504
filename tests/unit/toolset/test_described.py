"""Descriptions that were written take the place of the config's own."""

from __future__ import annotations

import json

import pytest

from toolorchestra.tool.config import ToolConfig
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.described import with_descriptions


def toolset(folder=""):
    tools = {
        name: ToolConfig(kind="llm", description="Old.", priced_as=name.upper(), latency_s=1.0)
        for name in ("big", "small")
    }
    return ToolsetConfig(name="t", tools=tools, min_tools=1, max_tools=2, descriptions=str(folder))


def test_what_was_written_of_a_tool_is_told_and_the_others_keep_their_words(tmp_path):
    (tmp_path / "big.json").write_text(json.dumps({"model": "BIG", "description": "New."}))
    described = with_descriptions(toolset(tmp_path))
    assert [tool.description for tool in described.tools.values()] == ["New.", "Old."]


def test_without_a_folder_nothing_is_changed():
    plain = toolset()
    assert with_descriptions(plain) is plain


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"model": "OTHER", "description": "New."}', "it describes OTHER, and big is BIG"),
        ("{", "cannot read .*big.json"),
        ('{"model": "BIG"}', "cannot read .*big.json"),
        (None, "it describes none of the toolset's tools"),
    ],
)
def test_what_does_not_describe_the_tools_is_refused(text, told, tmp_path):
    if text is not None:
        (tmp_path / "big.json").write_text(text)
    with pytest.raises(ValueError, match=told):
        with_descriptions(toolset(tmp_path))
