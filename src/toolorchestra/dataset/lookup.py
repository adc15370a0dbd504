"""Questions that one fact of the wiki answers."""

from __future__ import annotations

import random

from toolorchestra.dataset.family import Draft, Family
from toolorchestra.domain.wiki import Fact, load_wiki
from toolorchestra.domain.wiki_schema import Relation


def value_kind(relation: Relation) -> str:
    """The matcher for values of `relation`."""
    return "number" if relation.numbers is not None else "text"


def draft_lookup(fact: Fact, wording: str) -> Draft:
    """The task that asks for `fact` in the given wording."""
    return Draft(
        question=wording.format(e=fact.entity.label),
        answer=fact.answer,
        answer_kind=value_kind(fact.relation),
        key=fact.entity.name,
        metadata={"family": f"{fact.entity.kind}.{fact.relation.name}"},
    )


def draw(rng: random.Random) -> Draft:
    """A random fact in one of its wordings."""
    fact = rng.choice(load_wiki().facts)
    return draft_lookup(fact, rng.choice(fact.relation.questions))


LOOKUP_FAMILIES: dict[str, Family] = {"lookup": draw}
