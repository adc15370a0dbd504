import subprocess
import sys

from toolorchestra.domain.wiki import load_wiki
from toolorchestra.domain.wiki_schema import NUM_ENTITIES, RELATIONS


def test_the_wiki_holds_two_hundred_entities_with_five_facts_each():
    wiki = load_wiki()
    assert len(wiki.entities) == sum(NUM_ENTITIES.values()) == 200
    assert len(wiki.facts) == 1000
    assert {len(facts) for facts in wiki.by_name.values()} == {5}


def test_every_answer_span_lies_within_its_sentence():
    for fact in load_wiki().facts:
        assert fact.answer and fact.sentence.count(fact.answer) == 1
        assert fact.sentence.startswith(fact.sentence[: fact.start] + fact.answer)
        assert fact.sentence[0].isupper() and fact.sentence.endswith(".")


def test_every_link_leads_to_an_entity_of_its_kind():
    wiki = load_wiki()
    links = [fact for fact in wiki.facts if fact.relation.target]
    assert len(links) > 300
    for fact in links:
        assert wiki.entities[fact.answer].kind == fact.relation.target
        assert fact.answer != fact.entity.name


def test_no_word_of_a_name_is_used_twice():
    words = [word for name in load_wiki().entities for word in name.split()]
    assert len(set(words)) == len(words)


def test_every_relation_with_a_target_has_a_phrase_and_the_others_have_none():
    for relations in RELATIONS.values():
        for relation in relations:
            assert bool(relation.phrase) == (relation.target is not None)
            assert len(relation.questions) == 2


def test_another_process_makes_the_same_wiki():
    code = (
        "from toolorchestra.domain.wiki import load_wiki\n"
        "print([fact.sentence for fact in load_wiki().facts])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str([fact.sentence for fact in load_wiki().facts])
