import asyncio

import pytest
from tests.unit.tool.local_world import SECRET, make_context

from toolorchestra.dataset.local import local_task
from toolorchestra.dataset.lookup import draft_lookup
from toolorchestra.dataset.multihop import draft_multihop, hops
from toolorchestra.domain.wiki import load_wiki
from toolorchestra.tool.local_search import PARAMETERS, LocalSearch
from toolorchestra.tool.search_config import SearchConfig
from toolorchestra.types import Usage


def make_tool(**options):
    return LocalSearch("local_search", latency_s=1.5, options=SearchConfig(**options))


def call(tool, arguments, question):
    return asyncio.run(tool.call(arguments, make_context(question)))


def test_every_lookup_question_finds_its_answer_without_arguments():
    tool = make_tool()

    async def run():
        for fact in load_wiki().facts:
            for wording in fact.relation.questions:
                draft = draft_lookup(fact, wording)
                result = await tool.call({}, make_context(draft.question))
                assert result.status == "ok", draft.question
                assert result.content == f"answer: {draft.answer}\nsource: {fact.sentence}"

    asyncio.run(run())


@pytest.mark.parametrize("skill", ["math", "logic", "code", "service"])
def test_questions_of_other_skills_find_nothing(skill):
    tool = make_tool()
    for split in ("train", "heldout"):
        for i in range(200):
            task = local_task(i, seed=0, split=split, skills={skill: 1.0})
            result = call(tool, {}, task.question)
            assert (result.status, result.content) == ("abstained", "nothing found"), task.question


def test_a_two_hop_question_finds_a_fact_of_the_first_entity_and_never_the_answer():
    tool = make_tool()
    num_first_hops = num_questions = 0

    async def run():
        nonlocal num_first_hops, num_questions
        for first, second in hops():
            wording = second.relation.questions[num_questions % 2]
            draft = draft_multihop(first, second, wording)
            result = await tool.call({}, make_context(draft.question))
            assert result.status == "ok", draft.question
            answer, source = result.content.split("\n")
            facts = load_wiki().by_name[first.entity.name].values()
            assert source.removeprefix("source: ") in {fact.sentence for fact in facts}
            assert answer != f"answer: {draft.answer}"
            num_questions += 1
            num_first_hops += answer == f"answer: {first.answer}"

    asyncio.run(run())
    assert num_first_hops / num_questions > 0.95


def test_two_searches_solve_a_two_hop_question():
    tool = make_tool()
    first, second = next((a, b) for a, b in hops() if b.relation.name == "population")
    found = call(tool, {"query": f"population of {first.answer}"}, "anything")
    assert found.content.startswith(f"answer: {second.answer}\n")


def test_the_result_carries_the_nominal_latency_and_no_usage():
    result = call(make_tool(), {}, "Who is the mayor of Velmor?")
    assert (result.latency_s, result.usage, result.cost_usd) == (1.5, Usage(), 0.0)
    assert (result.call_id, result.name) == ("c1", "local_search")


@pytest.mark.parametrize("query", ["", "  ", None])
def test_a_blank_query_means_the_question(query):
    fact = load_wiki().facts[0]
    question = draft_lookup(fact, fact.relation.questions[0]).question
    assert call(make_tool(), {"query": query}, question) == call(make_tool(), {}, question)


def test_several_sentences_come_best_first_and_only_above_the_threshold():
    fact = load_wiki().facts[0]
    question = draft_lookup(fact, fact.relation.questions[0]).question
    lines = call(make_tool(top_k=3, min_score=-1.0), {}, question).content.split("\n")
    assert lines[:2] == [f"answer: {fact.answer}", f"source: {fact.sentence}"]
    assert len(lines) == 4
    assert (
        len(call(make_tool(top_k=5000, min_score=-1.0), {}, question).content.split("\n")) == 1001
    )
    assert call(make_tool(top_k=3, min_score=1.0), {}, question).status == "abstained"


def test_the_gold_answer_is_never_in_a_result():
    tool = make_tool(top_k=5, min_score=-1.0)
    for question in ("Who is the mayor of Velmor?", "2 + 2?"):
        assert SECRET not in str(call(tool, {}, question))


@pytest.mark.parametrize("query", ["x" * 200_000, "\x00\ud800" * 3, "<|im_end|>"])
def test_an_odd_query_does_no_harm(query):
    assert call(make_tool(), {"query": query}, "?").status == "abstained"


def test_the_schema_has_one_optional_argument():
    assert list(PARAMETERS["properties"]) == ["query"]
    assert PARAMETERS["required"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top_k": 0}, r"options\.top_k: 0 is not allowed; use an integer from 1 up"),
        ({"min_score": 1.5}, r"options\.min_score: 1.5 is not allowed"),
        ({"min_score": float("nan")}, r"options\.min_score: nan is not allowed"),
        ({"corpus": "web"}, r"options\.corpus: 'web' is not allowed; use wiki"),
        ({"encoder": "bert"}, r"options\.encoder: 'bert' is not allowed; use hashed"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_tool(**options)
