"""The prompt's labels and their order, what is cut of it, and what is told of aliases."""

from dataclasses import replace

import pytest
from tests.unit.chat.fronts import EPISODE_PREFERENCE, FRONTS, fronted, turn
from tests.unit.chat.qwen_tokenizer import qwen_tokenizer

from toolorchestra.aliases import Reading
from toolorchestra.chat.config import UpstreamConfig
from toolorchestra.chat.gathered import gather
from toolorchestra.chat.tail import Tail
from toolorchestra.chat.upstream import context_text, front_schemas, user_text, with_aliases

TAIL = Tail(qwen_tokenizer())
WORDS = UpstreamConfig(closing="Choose.")
SEARCH = turn("search", "search-1", "Paris is a city.")
CODE = turn("enhance_reasoning", "reasoner-1", "4\n", metadata={"wrote": "print(2 + 2)"})
TRIED = turn("answer", "answer-1", "answer: 5")


def said(*turns, words=WORDS, **changes):
    episode = fronted(**changes)
    return user_text(episode, gather(episode, turns), words=words, tail=TAIL)


def test_a_problem_of_which_nothing_is_known_stands_alone():
    assert said() == "Problem: What is 2 + 2?\n\n\n\nChoose."


def test_documents_come_first_then_code_with_its_output_then_attempts():
    assert said(CODE, TRIED, SEARCH) == (
        "Problem: What is 2 + 2?\n\n"
        "Documents:\nDoc 1: Paris is a city. ...\n\n\n"
        "python code and execution outputs:\n"
        "```python\nprint(2 + 2)\n```\n\n```output\n4\n```\n\n"
        "Attempt1 answer by answer-1: answer: 5\n\n\n"
        "Choose."
    )


def test_faults_are_told_before_the_end_or_not_at_all():
    fault = turn("ask", "x", "error: there is no tool", status="policy_error")
    assert said(fault).endswith("\n\nNote 1: error: there is no tool\n\nChoose.")
    assert said(fault, words=replace(WORDS, note="")) == said()


def test_each_document_is_cut_at_its_end():
    words = replace(WORDS, max_document_chars=5)
    assert "Doc 1: Paris ...\n" in said(SEARCH, words=words)
    assert f"Doc 1: {'x' * 4000} ...\n" in said(turn("search", "search-1", "x" * 5000))


def test_of_too_many_documents_the_newest_stay():
    turns = [turn("search", "search-1", f"{number} {'the answer ' * 20}") for number in range(9)]
    text = said(*turns, words=replace(WORDS, max_context_tokens=150))
    assert text.startswith("Problem: What is 2 + 2?\n\nDocuments:\n")
    assert "Doc 9: 8 the answer" in text and "Doc 4" not in text
    assert TAIL.count(text) < 150 + 30  # the labels come on top


def test_the_problem_takes_its_room_from_the_documents():
    long = replace(fronted().task, question="the answer " * 40)
    words = replace(WORDS, max_context_tokens=150)
    found = turn("search", "search-1", "Paris " * 200)
    shown = said(found, words=words, task=long).partition("Documents:\n")[2]
    assert 0 < TAIL.count(shown.partition("\n\nChoose.")[0]) < 150 - 70
    assert "Documents" not in said(found, words=replace(words, max_context_tokens=50), task=long)


def test_work_is_cut_by_itself_and_its_fence_opened_anew():
    program = turn("enhance_reasoning", "reasoner-1", "the answer " * 200, metadata={"wrote": "x"})
    text = said(SEARCH, program, words=replace(WORDS, max_work_tokens=40))
    head, _, work = text.partition("outputs:\n")
    assert work.startswith("```\n") and "```python" not in work
    assert "Doc 1: Paris is a city. ..." in head
    assert TAIL.count(work) < 60


def test_what_somebody_reads_is_cut_to_their_own_measure():
    known = gather(fronted(), [SEARCH])
    reading = Reading(max_document_chars=5, max_work_tokens=10, max_context_tokens=90)
    text = context_text(known, reading, problem="2 + 2?", words=WORDS, tail=TAIL)
    assert text == "Documents:\nDoc 1: Paris ...\n\n"


def test_braces_in_what_was_found_are_text():
    assert "Doc 1: {number} {{ ..." in said(turn("search", "search-1", "{number} {{"))


def test_a_function_has_one_argument_that_names_its_aliases_with_their_prices():
    enhance, answer, _ = front_schemas(fronted(), WORDS)
    assert answer["type"] == "function"
    assert answer["function"]["name"] == "answer"
    parameters = enhance["function"]["parameters"]
    assert list(parameters) == ["properties", "required", "title", "type"]
    assert parameters["required"] == list(parameters["properties"]) == ["model"]
    # The made-up price: 2 dollars per million tokens of input, 0.0102 dollars a typical call.
    assert parameters["properties"]["model"]["description"] == (
        "Who does enhance_reasoning. Choices: ['reasoner-1'].\n"
        "reasoner-1: Answers. 2 dollars per million input tokens, 0 per million output tokens; "
        "a call: 1 cents, 3 s."
    )


def test_the_original_description_can_be_written_whole():
    words = replace(WORDS, choices="{argument}", alias="")
    told = front_schemas(fronted(), words)[0]["function"]["parameters"]["properties"]["model"]
    assert told == {"description": "Who does enhance_reasoning.", "type": "string"}


def test_a_preference_names_aliases_where_it_named_tools():
    wish = replace(EPISODE_PREFERENCE, instruction="Prefer big, then seeker; not bigger or big_2.")
    problem = said(preference=wish).partition("\n\n")[0]
    assert problem == (
        "Problem: What is 2 + 2?\nPreference: Prefer answer-1, then search-1; not bigger or big_2."
    )


def test_a_tool_with_two_aliases_is_named_by_both():
    search = replace(
        FRONTS[2],
        aliases={"search-1": FRONTS[2].aliases["search-1"]}
        | {"search-2": FRONTS[2].aliases["search-1"]},
    )
    assert (
        with_aliases(
            "Use seeker.",
            fronted(),
        )
        == "Use search-1."
    )
    episode = replace(fronted(), fronts=(*FRONTS[:2], search))
    assert with_aliases("Use seeker.", episode) == "Use search-1 or search-2."


@pytest.mark.parametrize("text", ["Use big.", ""])
def test_without_fronts_names_stay(text):
    assert with_aliases(text, replace(fronted(), fronts=())) == text
