from toolorchestra.dataset.multihop import draft_multihop, hops
from toolorchestra.domain.wiki import load_wiki


def test_the_second_fact_is_about_the_first_one_s_answer():
    assert len(hops()) > 1000
    assert all(first.answer == second.entity.name for first, second in hops())


def test_no_fact_about_the_first_entity_gives_the_answer():
    by_name = load_wiki().by_name
    for first, second in hops():
        known = {fact.answer for fact in by_name[first.entity.name].values()}
        assert second.answer not in known


def test_a_question_names_neither_the_entity_between_nor_the_answer():
    for first, second in hops():
        for wording in second.relation.questions:
            question = draft_multihop(first, second, wording).question
            assert first.entity.name in question
            assert first.answer not in question and second.answer not in question
            assert len(question) < 110 and len(question.split()) < 25
