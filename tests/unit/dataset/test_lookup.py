import random

from toolorchestra.dataset.lookup import draft_lookup, draw
from toolorchestra.domain.wiki import load_wiki
from toolorchestra.reward.match import match_answer
from toolorchestra.types import Task


def test_a_question_names_the_entity_and_hides_the_answer():
    for fact in load_wiki().facts:
        for wording in fact.relation.questions:
            draft = draft_lookup(fact, wording)
            assert fact.entity.name in draft.question
            assert fact.answer not in draft.question
            assert len(draft.question) < 80


def test_the_source_sentence_of_every_fact_answers_its_question():
    rng = random.Random(0)
    for _ in range(200):
        draft = draw(rng)
        task = Task(
            id="t",
            skill="lookup",
            question=draft.question,
            answer=draft.answer,
            answer_kind=draft.answer_kind,
        )
        assert match_answer(task, f"It is {draft.answer}.") is True
