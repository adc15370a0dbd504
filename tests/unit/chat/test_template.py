"""Our template against the reference: byte for byte."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer

from toolorchestra.chat.render import builtin_template

SPEC = importlib.util.find_spec("trl")
FILE = (
    Path(SPEC.submodule_search_locations[0]) / "chat_templates" / "qwen3.jinja"
    if SPEC and SPEC.submodule_search_locations
    else Path("absent")
)
needs_reference = pytest.mark.skipif(
    not FILE.exists(), reason="the reference template comes with trl: pip install --no-deps trl"
)

PIECES = ["", "\n", " ", "hi", "ü", '"', "{}", "<think>", "</think>", "<think>\nso\n</think>\n\n"]
PIECES += ["<tool_response>", "</tool_response>", "<tool_call>", "\n\nend\n", "<|im_end|>", "\\n"]
TEXT = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
    st.just("<tool_response>\nx\n</tool_response>"),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=2)
FUNCTION = st.fixed_dictionaries({"name": TEXT, "arguments": OBJECT | TEXT})
CALL = FUNCTION | st.fixed_dictionaries({"type": st.just("function"), "function": FUNCTION})
MESSAGE = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "tool"]), "content": TEXT}),
    st.fixed_dictionaries({"role": st.just("tool"), "content": TEXT}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": TEXT | st.none()},
        optional={
            "reasoning_content": TEXT | st.none(),
            "tool_calls": st.lists(CALL, max_size=3) | st.none(),
        },
    ),
)
TOOL = st.fixed_dictionaries(
    {
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {"name": TEXT, "description": TEXT, "parameters": OBJECT}
        ),
    }
)


def rendered(template, messages, tools=None, *, opens_turn=True, **options):
    return qwen_tokenizer().apply_chat_template(
        messages,
        tools=tools,
        chat_template=template,
        add_generation_prompt=opens_turn,
        tokenize=False,
        **options,
    )


@needs_reference
@settings(max_examples=300, deadline=None)
@given(
    messages=st.lists(MESSAGE, min_size=1, max_size=7),
    tools=st.none() | st.lists(TOOL, max_size=3),
    opens_turn=st.booleans(),
    options=st.sampled_from([{}, {"enable_thinking": True}, {"enable_thinking": False}]),
)
def test_any_chat_renders_as_the_reference_does(messages, tools, opens_turn, options):
    ours, theirs = (
        rendered(template, messages, tools, opens_turn=opens_turn, **options)
        for template in (builtin_template(), FILE.read_text())
    )
    assert ours == theirs


def test_a_whole_episode_is_rendered_as_written_by_hand():
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}
    call = {"function": {"name": "f", "arguments": {"q": "Zürich"}}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [call, call]},
        {"role": "tool", "content": "one"},
        {"role": "tool", "content": "two"},
    ]
    assert rendered(builtin_template(), messages, [tool]) == (
        "<|im_start|>system\nBe brief.\n\n# Tools\n\n"
        "You may call one or more functions to assist with the user query.\n\n"
        "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n"
        '{"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}\n'
        "</tools>\n\nFor each function call, return a json object with function name and arguments"
        " within <tool_call></tool_call> XML tags:\n<tool_call>\n"
        '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\nWhere?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nhm\n</think>\n\n"
        '<tool_call>\n{"name": "f", "arguments": {"q": "Zürich"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "f", "arguments": {"q": "Zürich"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\none\n</tool_response>\n"
        "<tool_response>\ntwo\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_thinking_before_the_last_question_is_dropped_and_after_it_kept():
    def thought(text):
        return {"role": "assistant", "content": "said", "reasoning_content": text}

    user = {"role": "user", "content": "q"}
    text = rendered(builtin_template(), [user, thought("old"), user, thought("new")])
    assert "old" not in text
    assert "<think>\nnew\n</think>\n\nsaid<|im_end|>\n" in text


def test_no_thinking_is_asked_for_by_an_empty_think_block():
    user = {"role": "user", "content": "q"}
    text = rendered(builtin_template(), [user], enable_thinking=False)
    assert text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
