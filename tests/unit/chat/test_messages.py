from dataclasses import replace

import pytest

from toolorchestra.chat.messages import (
    answer_of,
    assistant_message,
    describe,
    episode_messages,
    tool_message,
    tool_schemas,
)
from toolorchestra.types import (
    Episode,
    OfferedTool,
    Preference,
    Price,
    Task,
    ToolCall,
    ToolResult,
)

PRICE = Price(source="made up", date="2025-01-01")
TOOL = OfferedTool(
    name="gpt_5",
    shown_as="sim/gpt_5",
    description="GPT-5, generalist. math 5, logic 4.",
    parameters={"type": "object", "properties": {"question": {"type": "string"}}},
    priced_as=("GPT-5",),
    price=PRICE,
    call_cost_usd=0.021,
    latency_s=60.0,
)


def episode(instruction):
    return Episode(
        id="e",
        seed=1,
        task=Task(id="t", skill="math", question="What is 2 + 2?", answer="4"),
        tools=(TOOL,),
        pricing="official",
        policy_priced_as=("policy",),
        policy_price=PRICE,
        preference=Preference(kind="k", instruction=instruction, outcome=1.0, cost=0.0, latency=0),
        is_solvable=True,
    )


def test_the_preference_gets_a_line_of_its_own_after_the_question():
    assert episode_messages(episode("Be cheap."), "You orchestrate.") == [
        {"role": "system", "content": "You orchestrate."},
        {"role": "user", "content": "What is 2 + 2?\nPreference: Be cheap."},
    ]


@pytest.mark.parametrize("instruction", ["", " \n"])
def test_without_preference_or_system_prompt_only_the_question_is_shown(instruction):
    user = {"role": "user", "content": "What is 2 + 2?"}
    assert episode_messages(episode(instruction), "") == [user]


def test_how_to_answer_follows_as_a_paragraph_where_the_task_says_so():
    asked = episode("Be cheap.")
    form = {"answer_form": "Answer: x\nConfidence: x"}
    asked = replace(asked, task=replace(asked.task, metadata=form))
    (message,) = episode_messages(asked, "")
    assert message["content"] == (
        "What is 2 + 2?\nPreference: Be cheap.\n\nAnswer: x\nConfidence: x"
    )


def test_the_answer_and_the_display_name_are_never_shown():
    said = str(episode_messages(replace(episode("x"), seed=77), "")) + str(
        tool_schemas([TOOL], style="full")
    )
    assert "sim/" not in said and "77" not in said


def test_a_tool_is_described_with_its_price_and_time():
    assert describe(TOOL) == "GPT-5, generalist. math 5, logic 4. 2.1 cents, 60 s."


@pytest.mark.parametrize(
    ("cost_usd", "cents"),
    [
        (0.0, "0 cents"),
        (0.01, "1 cent"),
        (0.000000123, "0.000012 cents"),
        (0.00096, "0.096 cents"),
        (0.00996, "1 cent"),
        (0.0149, "1.5 cents"),
        (0.29, "29 cents"),
        (12.34, "1200 cents"),
        (1e9, "100000000000 cents"),
    ],
)
def test_cents_have_two_significant_digits_and_no_exponent(cost_usd, cents):
    assert f" {cents}, 60 s." in describe(replace(TOOL, call_cost_usd=cost_usd))


def test_a_description_without_full_stop_or_text_is_still_readable():
    assert describe(replace(TOOL, description="Adds")) == "Adds. 2.1 cents, 60 s."
    assert describe(replace(TOOL, description="", latency_s=0.25)) == "2.1 cents, 0.25 s."


def test_schemas_are_openai_functions_in_full_or_compact_style():
    (full,), (compact,) = (tool_schemas([TOOL], style=style) for style in ("full", "compact"))
    assert full == {
        "type": "function",
        "function": {
            "name": "gpt_5",
            "description": "GPT-5, generalist. math 5, logic 4. 2.1 cents, 60 s.",
            "parameters": TOOL.parameters,
        },
    }
    assert compact["function"]["parameters"] == {"type": "object", "properties": {}}
    assert compact["function"]["description"] == full["function"]["description"]


def test_a_tool_with_required_arguments_shows_them_in_compact_style_too():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    (compact,) = tool_schemas([replace(TOOL, parameters=schema)], style="compact")
    assert compact["function"]["parameters"] == schema


def test_an_unknown_style_is_refused():
    with pytest.raises(ValueError, match="'short' is not allowed; use full or compact"):
        tool_schemas([TOOL], style="short")


def test_history_messages_hold_only_what_was_said():
    plain = assistant_message(thinking="", content="4", calls=[])
    assert plain == {"role": "assistant", "content": "4"}
    call = ToolCall(id="call_0", name="f", arguments={"q": "ü"})
    full = assistant_message(thinking="hm", content="", calls=[call])
    assert full["reasoning_content"] == "hm"
    assert full["tool_calls"][0]["function"] == {"name": "f", "arguments": {"q": "ü"}}
    result = ToolResult(call_id="call_0", name="f", content="4", status="ok")
    assert tool_message(result)["tool_call_id"] == full["tool_calls"][0]["id"]


def test_an_answer_is_stripped_and_otherwise_left_alone():
    assert answer_of("\n The answer is 4. ") == "The answer is 4."
