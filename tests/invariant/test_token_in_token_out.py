"""Token-in, token-out: what is trained is what was sampled, whatever its text looks like."""

import random

import pytest
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer

from toolorchestra.chat.messages import assistant_message, tool_message
from toolorchestra.chat.parse import parse_message
from toolorchestra.chat.render import Renderer, builtin_template
from toolorchestra.chat.rows import RowBuilder
from toolorchestra.types import ToolCall, ToolResult

TOKENIZER = qwen_tokenizer()
RENDERER = Renderer(TOKENIZER, template=builtin_template())
END = RENDERER.end_of_turn_id
QUESTION = {"role": "user", "content": "What is the capital of France?"}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {}}}

QUERIES = ["the answer", "Zürich\n\n?", "1 + 1", 'say "</tool_call>"']


def result(content):
    return ToolResult(call_id="call_0", name="search", content=content, status="ok")


def odd_ids(text, rng):
    """Ids of a text in an unusual cut, as a sampler may give: letter by letter, now and then."""
    ids = []
    for char in text:
        ids += TOKENIZER(char, add_special_tokens=False)["input_ids"]
    return ids if rng.random() < 0.5 else TOKENIZER(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("seed", range(20))
def test_random_ids_over_many_turns_and_rows_are_each_trained_once(seed):
    rng = random.Random(seed)
    builder = RowBuilder("r")
    builder.new_row(RENDERER.prompt_ids([QUESTION], [TOOL]))
    sampled = []
    for version in range(rng.randint(1, 8)):
        ids = [rng.randrange(len(TOKENIZER)) for _ in range(rng.randint(1, 12))]
        is_ended = ids[-1] == END or rng.random() < 0.8
        ids += [END] if is_ended else []
        logprobs = [-rng.random() for _ in ids]
        builder.append_sampled(ids, logprobs, version)
        sampled += zip(ids, logprobs, [version] * len(ids), strict=True)
        if rng.random() < 0.3:
            builder.new_row(RENDERER.prompt_ids([QUESTION, QUESTION], [TOOL]))
        else:
            added = RENDERER.result_ids([result("Paris")], is_ended=is_ended)
            builder.append_context(added)
    rows = builder.rows()
    trained = []
    for row in rows:
        assert len(row.ids) == len(row.loss_mask) == len(row.logprobs) == len(row.versions)
        entries = zip(row.ids, row.loss_mask, row.logprobs, row.versions, strict=True)
        for token, mask, logprob, version in entries:
            if mask:
                trained.append((token, logprob, version))
            else:
                assert (logprob, version) == (0.0, -1)
    assert trained == sampled


@pytest.mark.parametrize("seed", range(10))
def test_the_text_of_a_row_is_the_templates_text_of_the_conversation(seed):
    rng = random.Random(seed)
    messages = [QUESTION]
    builder = RowBuilder("r")
    builder.new_row(RENDERER.prompt_ids(messages, [TOOL]))
    num_sampled = 0
    for turn in range(4):
        said = written(rng, turn)
        ids = [*odd_ids(said, rng), END]
        num_sampled += len(ids)
        builder.append_sampled(ids, [-1.0] * len(ids), 0)
        message = parse_message(said, finish_reason="stop")
        results = [result(f"Paris\n\n{rng.random()}") for _ in message.calls]
        builder.append_context(RENDERER.result_ids(results))
        messages.append(
            assistant_message(
                thinking=message.thinking, content=message.content, calls=message.calls
            )
        )
        messages += map(tool_message, results)
        assert TOKENIZER.decode(builder.ids) == RENDERER.text(messages, [TOOL])
    # A new question drops the old thinking: what was sampled stays in its row, a new row begins.
    final = assistant_message(thinking="so", content="Paris", calls=[])
    assert RENDERER.rewrites_history([*messages, final], [TOOL])
    messages += [final, QUESTION]
    builder.new_row(RENDERER.prompt_ids(messages, [TOOL]))
    assert TOKENIZER.decode(builder.ids) == RENDERER.text(messages, [TOOL])
    builder.append_sampled([END], [-1.0], 1)
    assert [sum(row.loss_mask) for row in builder.rows()] == [num_sampled, 1]


def written(rng, turn):
    """One policy message in the template's own form, with one or two calls."""
    calls = [
        ToolCall(id=f"call_{i}", name="search", arguments={"q": rng.choice(QUERIES)})
        for i in range(rng.randint(1, 2))
    ]
    message = assistant_message(thinking=f"turn {turn}", content="", calls=calls)
    text = RENDERER.text([QUESTION, message], opens_turn=False)
    return text.rpartition("<|im_start|>assistant\n")[2].removesuffix("<|im_end|>\n")
