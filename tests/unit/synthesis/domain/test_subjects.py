"""What a domain is about: given, or left to the writer."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.synthesis.domain.making import workshop

from toolorchestra.provider.fault import ProviderFault
from toolorchestra.synthesis.domain.subjects import plan, read, request
from toolorchestra.synthesis.domain.workshop import NothingUsable
from toolorchestra.synthesis.jobs import NotAnswered

ONE = {"name": "loans", "description": "what goes out"}


def reply(*subjects, about="A desk."):
    return {"about": about, "subjects": list(subjects)}


def test_the_users_words_are_passed_on_and_without_them_the_writer_says_it():
    assert "What it is about: lending tools\nName 3 subjects." in request(
        "desk", " lending tools ", 3
    )
    assert "Say what it is about.\nName 3 subjects." in request("desk", " ", 3)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (reply(), "a plan needs a sentence and a subject"),
        (reply(ONE, about=" "), "a plan needs a sentence and a subject"),
        (reply(ONE, {**ONE, "name": "Loans "}), "two subjects have the same name"),
        (reply({**ONE, "name": ""}), "a subject needs a name"),
        (reply({"name": "loans"}), "key 'description' is missing"),
        ([ONE], "expected an object"),
    ],
)
def test_what_is_no_plan_is_told(value, reason):
    reading = read(json.dumps(value))
    assert reading.value is None and reason in reading.fault


async def test_subjects_beyond_those_asked_for_are_left_out():
    shop, written = workshop(reply(ONE, {**ONE, "name": "fees"}), subjects=1)
    made = await plan(replace(shop, subject="lending tools"))
    assert [one.name for one in made.subjects] == ["loans"]
    assert written.lines("subjects.jsonl") == [ONE]
    assert written.files["rejections.jsonl"] == ""


async def test_a_writer_that_will_not_plan_ends_the_run():
    shop, _ = workshop("Why?", "Why?", "Why?")
    with pytest.raises(NothingUsable, match="^subjects: Big wrote nothing .* another writer.model"):
        await plan(shop)


class Faulty:
    """A model whose provider has a fault."""

    async def complete(self, messages, *, sampling, deadline_s):
        raise ProviderFault("mine answered 401", kind="auth")


async def test_a_fault_of_the_provider_is_told_as_one_that_can_be_mended():
    shop, _ = workshop()
    faulty = replace(shop, writer=replace(shop.writer, model=Faulty()))
    with pytest.raises(NotAnswered, match=r"1 of 1 requests got no reply \(mine answered 401\)"):
        await plan(faulty)
