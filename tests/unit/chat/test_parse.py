import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolorchestra.chat.parse import parse_message
from toolorchestra.chat.strict_json import MAX_CHARS

SEARCH = '<tool_call>{"name":"search","arguments":{"q":"x"}}</tool_call>'


def parsed(text, finish_reason="stop", **options):
    return parse_message(text, finish_reason=finish_reason, **options)


def pairs(message):
    return [(call.name, call.arguments) for call in message.calls]


def only_error(text):
    """The message of the one error of a text that is rejected without being cut."""
    message = parsed(text)
    assert message.calls == () and not message.is_truncated
    (error,) = message.errors
    assert error.text in text
    return error.message


def block(arguments):
    return '<tool_call>\n{"name": "f", "arguments": ' + arguments + "}\n</tool_call>"


def test_a_qwen3_message_falls_into_thinking_content_and_call():
    message = parsed("<think>\nhm\n</think>\n\nLet me look.\n" + block('{"q": "x"}'))
    assert (message.thinking, message.content) == ("hm", "Let me look.")
    assert pairs(message) == [("f", {"q": "x"})]
    assert message.errors == () and not message.is_truncated


def test_a_message_without_calls_is_an_answer():
    message = parsed("<think>\n\n</think>\n\n Paris \n")
    assert (message.thinking, message.content, message.calls) == ("", "Paris", ())


def test_c01_a_closing_tag_inside_a_string_does_not_end_the_call():
    text = "end it with </tool_call> please"
    for inner in (text, f"{text} <tool_call> {{}} <think>"):
        call = json.dumps({"name": "note", "arguments": {"text": inner}})
        message = parsed(f"<tool_call>{call}</tool_call>")
        assert pairs(message) == [("note", {"text": inner})]
        assert message.content == "" and message.errors == ()


def test_c02_two_calls_in_one_block_are_both_made_in_order():
    first, second = (json.dumps({"name": "search", "arguments": {"q": q}}) for q in "ab")
    message = parsed(f"<tool_call>{first}\n{second}</tool_call>")
    assert pairs(message) == [("search", {"q": "a"}), ("search", {"q": "b"})]


def test_c02_two_blocks_are_two_calls_in_order_with_distinct_ids():
    message = parsed(SEARCH.replace("x", "a") + "\nand\n" + SEARCH.replace("x", "b"), first_id=3)
    assert pairs(message) == [("search", {"q": "a"}), ("search", {"q": "b"})]
    assert [call.id for call in message.calls] == ["call_3", "call_4"]
    assert message.content == "and"


@pytest.mark.parametrize("junk", ["please", "42", '"x"', "[1]", "}", ", {}"])
def test_c02_other_extra_data_in_a_block_rejects_the_whole_block(junk):
    text = f'<tool_call>{{"name":"search","arguments":{{}}}} {junk}</tool_call>'
    assert "extra data" in only_error(text)


def test_c03_parameters_instead_of_arguments_is_rejected_naming_the_missing_key():
    said = only_error('<tool_call>{"name":"search","parameters":{"q":"x"}}</tool_call>')
    assert "'arguments' is missing" in said and "parameters" in said


NO_CALLS = [
    ('{"name": "f"}', "'arguments' is missing"),
    ('{"arguments": {}}', "'name' is missing"),
    ("{}", "'name' is missing"),
    ('{"name": "f", "arguments": {}, "parameters": {"q": 1}}', "'parameters'] are not allowed"),
    ('{"name": 3, "arguments": {}}', "name must be a string"),
    ('{"name": null, "arguments": {}}', "name must be a string"),
    ('{"name": " ", "arguments": {}}', "name must be a string"),
    ("[1]", "one JSON object"),
    ('"f"', "one JSON object"),
    ("null", "one JSON object"),
    ("", "not valid JSON"),
    ("f()", "not valid JSON"),
    ("{'name': 'f', 'arguments': {}}", "not valid JSON"),
    ('{"name": "f", "arguments": {}', "not valid JSON"),
    ('{"name": "f, "arguments": {}}', "not valid JSON"),
    ('{"name": "f", "arguments": {"q": "x}}', "not valid JSON"),
    ('{"name": "f", "arguments": {"q": "a\nb"}}', "write a line break in a string as \\n"),
    ('{"name": "f", "arguments": {"q": NaN}}', "NaN"),
    ('{"name": "f", "arguments": {"q": -Infinity}}', "-Infinity"),
    ('{"name": "f", "arguments": {"q": 1e999}}', "1e999 is too large"),
    ('{"name": "f", "arguments": {"q": 1' + "0" * 5000 + "}}", "too many digits"),
    ('{"name": "f", "arguments": {"q": 1, "q": 2}}', 'key "q" appears twice'),
    ('{"name": "f", "name": "g", "arguments": {}}', 'key "name" appears twice'),
    ('{"name": "f", "arguments": {"q": "\\ud800"}}', "lone surrogate"),
    ('{"name": "f", "arguments": {"\\udfff": 1}}', "lone surrogate"),
    ('{"name": "f", "arguments": {"q": ' + "[" * 40 + "]" * 40 + "}}", "nested more than"),
    ('{"name": "f", "arguments": ' + '{"q":' * 10**5 + "1" + "}" * 10**5 + "}", "nested more"),
    ('{"name": "f", "arguments": {"q": "' + "x" * 10**7 + '"}}', f"at most {MAX_CHARS}"),
]


@pytest.mark.parametrize(("body", "said"), NO_CALLS, ids=[said for _, said in NO_CALLS])
def test_what_is_no_call_is_rejected_by_name(body, said):
    assert said in only_error(f"<tool_call>{body}</tool_call>")


@pytest.mark.parametrize(
    "arguments", ["[1, 2]", "3", "true", '"[1]"', '"3"', '"x"', '"{} {}"', '"{\\"q\\": NaN}"']
)
def test_c06_arguments_that_are_no_object_are_rejected(arguments):
    assert only_error(block(arguments)).startswith("this call was not run: arguments")


def test_arguments_written_twice_as_json_text_are_rejected():
    once = json.dumps({"q": "ü"})
    assert pairs(parsed(block(json.dumps(once)))) == [("f", {"q": "ü"})]
    assert "got a string" in only_error(block(json.dumps(json.dumps(once))))


@pytest.mark.parametrize("arguments", ["null", '""', '" "', "{}"])
def test_c05_empty_arguments_mean_none_on_a_completed_turn(arguments):
    assert pairs(parsed(block(arguments))) == [("f", {})]


CUT = '<tool_call>{"name":"write","arguments":{"path":"a.md","content":"# Int'


@pytest.mark.parametrize(
    ("text", "finish_reason"),
    [
        (CUT, "length"),
        (CUT, "tool_calls"),
        (CUT, "stop"),
        ('<tool_call>{"name":"write","arguments":{"content":"x"}}</tool_call>', "length"),
        ('<tool_call>{"name":"write","arguments":""}</tool_call>', None),
        (SEARCH + CUT, "stop"),
        (SEARCH.removesuffix("</tool_call>"), "stop"),
        (SEARCH.removesuffix("}</tool_call>"), "stop"),
        ("<tool_call>", "stop"),
        ("<tool_call>\n", "length"),
        (CUT.replace("# Int", "see </tool_call> and"), "tool_calls"),
    ],
)
def test_c05_a_cut_message_runs_no_call_and_says_what_to_do(text, finish_reason):
    message = parsed(text, finish_reason)
    assert message.calls == () and message.is_truncated
    assert "was cut" in message.errors[-1].message and "close every" in message.errors[-1].message


def test_c05_a_cut_answer_is_truncated_without_being_a_faulty_call():
    message = parsed("The answer is 4", "length")
    assert message.is_truncated and message.errors == () and message.content == "The answer is 4"


@pytest.mark.parametrize("before_tag", ["", "\n"])
def test_a_forgotten_quote_does_not_swallow_the_next_call(before_tag):
    first = f'<tool_call>{{"name":"f","arguments":{{"q":"x}}}}{before_tag}</tool_call>'
    message = parsed(f"{first}\n{SEARCH}")
    assert pairs(message) == [("search", {"q": "x"})]
    assert [error.text for error in message.errors] == [first]


def test_a_bad_value_before_a_closing_tag_in_a_string_leaks_nothing():
    message = parsed(block('{"n": NaN, "text": "a </tool_call> b"}'))
    assert message.content == "" and len(message.errors) == 1


def test_a_call_inside_thinking_is_thinking():
    message = parsed(f"<think>\n{SEARCH}\n</think>\n\nDone.")
    assert message.calls == () and message.errors == ()
    assert SEARCH in message.thinking and message.content == "Done."


def test_a_close_of_thinking_that_the_prompt_opened_ends_it():
    message = parsed(f"hm {SEARCH}\n</think>\n\nDone.")
    assert message.calls == () and SEARCH in message.thinking and message.content == "Done."


@pytest.mark.parametrize("text", ["<think>\nhm " + SEARCH, "hm <think> " + SEARCH])
def test_thinking_that_never_ends_holds_no_call(text):
    message = parsed(text)
    assert message.calls == () and SEARCH in message.thinking
    assert "ends inside <think>" in message.errors[0].message
    assert parsed(text, "length").errors == ()


def test_an_unclosed_prompt_side_think_block_holds_no_answer():
    message = parsed("hm, 4", is_thinking_open=True)
    assert (message.thinking, message.content) == ("hm, 4", "")


def test_a_think_tag_inside_an_argument_is_text():
    message = parsed(block('{"q": "<think> and </think>"}'))
    assert pairs(message) == [("f", {"q": "<think> and </think>"})] and message.thinking == ""


def test_a_closing_tag_alone_is_an_error():
    assert "without <tool_call>" in only_error('{"name": "f", "arguments": {}}\n</tool_call>')


def test_a_tool_that_is_not_offered_is_rejected_with_those_that_are():
    message = parsed(SEARCH + block("{}"), tool_names=["f", "g"])
    assert pairs(message) == [("f", {})]
    assert message.errors[0].message == 'there is no tool "search"; the tools are: f, g'


PIECES = ["<tool_call>", "</tool_call>", "<think>", "</think>", '{"name": "f", "arguments": {}}']
PIECES += ["{", "}", '"', "\\", "[", "NaN", " ", "\n", "x", "\ud800", SEARCH, "<|im_end|>"]


@settings(max_examples=300, deadline=None)
@given(
    text=st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(),
    finish_reason=st.sampled_from(["stop", "length", "tool_calls", None]),
)
def test_no_text_raises_and_a_cut_message_never_calls(text, finish_reason):
    message = parsed(text, finish_reason)
    assert not (message.is_truncated and message.calls)
    assert finish_reason in ("stop", "tool_calls") or message.is_truncated
    for call in message.calls:
        json.dumps(call.arguments, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("piece", ["<tool_call>", "</tool_call>", "<think></think>", SEARCH, "{"])
def test_long_repetitive_text_is_read_in_linear_time(piece):
    parsed(piece * 20_000)  # quadratic reading would take minutes
