"""Questions that two facts of the wiki answer together: the second is about the first's answer."""

from __future__ import annotations

import random
from functools import lru_cache

from toolorchestra.dataset.family import Draft, Family
from toolorchestra.dataset.lookup import value_kind
from toolorchestra.domain.wiki import Fact, load_wiki


@lru_cache(maxsize=1)
def hops() -> tuple[tuple[Fact, Fact], ...]:
    """All pairs of facts that make a question of two hops.

    Pairs are left out whose answer some fact about the first entity gives too: one search would
    solve those by accident.
    """
    wiki = load_wiki()
    return tuple(
        (first, second)
        for first in wiki.facts
        if first.relation.target is not None
        for second in wiki.by_name[first.answer].values()
        if second.answer not in {fact.answer for fact in wiki.by_name[first.entity.name].values()}
        and second.answer != first.entity.name
    )


def draft_multihop(first: Fact, second: Fact, wording: str) -> Draft:
    """The task that asks for `second`, naming its entity only through `first`."""
    phrase = first.relation.phrase.format(e=first.entity.label)
    return Draft(
        question=wording.format(e=phrase),
        answer=second.answer,
        answer_kind=value_kind(second.relation),
        key=first.entity.name,
        metadata={"family": f"{first.relation.name}.{second.relation.name}"},
    )


def draw(rng: random.Random) -> Draft:
    """A random pair of facts in one of the second's wordings."""
    first, second = rng.choice(hops())
    return draft_multihop(first, second, rng.choice(second.relation.questions))


MULTIHOP_FAMILIES: dict[str, Family] = {"multihop": draw}
