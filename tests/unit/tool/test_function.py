import asyncio

import pytest
from tests.unit.tool.local_world import SECRET, make_context

from toolorchestra.dataset.local import local_task
from toolorchestra.domain.parcels import load_parcels
from toolorchestra.tool.function import PARAMETERS, FunctionTool
from toolorchestra.tool.function_config import FunctionConfig
from toolorchestra.types import Usage


def make_tool(domain="parcels", function="track_parcel"):
    options = FunctionConfig(domain=domain, function=function)
    return FunctionTool("track_parcel", latency_s=0.5, options=options)


def call(arguments, question):
    return asyncio.run(make_tool().call(arguments, make_context(question)))


def test_every_service_question_is_answered_without_arguments():
    for i in range(200):
        task = local_task(i, seed=0, split="train", skills={"service": 1.0})
        result = call({}, task.question)
        assert (result.status, result.content) == ("ok", f"answer: {task.answer}")


@pytest.mark.parametrize("skill", ["math", "logic", "code", "lookup", "multihop"])
def test_questions_of_other_skills_find_nothing(skill):
    for i in range(200):
        task = local_task(i, seed=0, split="train", skills={skill: 1.0})
        assert call({}, task.question).status == "abstained", task.question


def test_an_argument_takes_the_place_of_the_question():
    number, parcel = next(iter(load_parcels().items()))
    assert call({"text": number}, "2 + 2?").content == f"answer: {parcel.city}"
    assert call({"text": "P0000"}, f"Where is {number}?").content == "nothing found"


def test_the_result_carries_the_nominal_latency_and_no_usage():
    result = call({}, "Where is it?")
    assert (result.latency_s, result.usage, result.cost_usd) == (0.5, Usage(), 0.0)
    assert SECRET not in str(result)


def test_the_schema_has_one_optional_argument():
    assert list(PARAMETERS["properties"]) == ["text"]
    assert PARAMETERS["required"] == []


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"domain": "retail"}, "'retail' is not allowed; use parcels"),
        ({"function": "send"}, "'send' is not allowed for the domain parcels; use track_parcel"),
    ],
)
def test_unknown_names_are_refused_with_those_that_exist(names, message):
    with pytest.raises(ValueError, match=message):
        make_tool(**names)
