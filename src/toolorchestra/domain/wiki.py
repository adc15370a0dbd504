"""The wiki: 200 invented entities, five facts each, made at run time from a fixed seed.

It is data that the project ships without a file: every process makes the very same facts. It stands
below the tools and the tasks because both read it: the search finds its sentences, the tasks ask
about its values.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from toolorchestra.domain.names import name_maker
from toolorchestra.domain.wiki_schema import LABELS, NUM_ENTITIES, RELATIONS, Relation, capitalised

_SEED = "toolorchestra wiki"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """One thing that the wiki writes about."""

    name: str
    kind: str

    @property
    def label(self) -> str:
        """The name as a sentence uses it, e.g. "the river Kelmor"."""
        return LABELS[self.kind].format(self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One sentence of the wiki, and where the answer lies in it."""

    entity: Entity
    relation: Relation
    sentence: str
    start: int
    """Offset of the answer's first character."""
    end: int
    """Offset behind the answer's last character."""

    @property
    def answer(self) -> str:
        """The words of the sentence that answer questions about it."""
        return self.sentence[self.start : self.end]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wiki:
    """All facts, in a fixed order, and the same by name of the entity and of the relation."""

    entities: Mapping[str, Entity]
    facts: tuple[Fact, ...]
    by_name: Mapping[str, Mapping[str, Fact]]


def _make_entities(make_name: Callable[[], str]) -> dict[str, list[Entity]]:
    entities: dict[str, list[Entity]] = {}
    for kind, count in NUM_ENTITIES.items():
        num_words = 2 if kind == "person" else 1
        names = [" ".join(make_name() for _ in range(num_words)) for _ in range(count)]
        entities[kind] = [Entity(name=name, kind=kind) for name in names]
    return entities


def _make_fact(entity: Entity, relation: Relation, value: str) -> Fact:
    before, _, after = relation.sentence.partition("{v}")
    before = capitalised(before.format(e=entity.label))
    sentence = before + value + after.format(e=entity.label)
    return Fact(
        entity=entity,
        relation=relation,
        sentence=sentence,
        start=len(before),
        end=len(before) + len(value),
    )


@lru_cache(maxsize=1)
def load_wiki() -> Wiki:
    """The wiki; made once in a process, in a few milliseconds."""
    rng = random.Random(_SEED)
    make_name = name_maker(rng)
    entities = _make_entities(make_name)

    def draw_value(entity: Entity, relation: Relation) -> str:
        if relation.target is not None:
            others = [other for other in entities[relation.target] if other is not entity]
            return rng.choice(others).name
        if relation.numbers is not None:
            return str(rng.randint(*relation.numbers))
        return make_name()

    facts = tuple(
        _make_fact(entity, relation, draw_value(entity, relation))
        for kind, members in entities.items()
        for entity in members
        for relation in RELATIONS[kind]
    )
    by_name: dict[str, dict[str, Fact]] = {}
    for fact in facts:
        by_name.setdefault(fact.entity.name, {})[fact.relation.name] = fact
    everyone = {entity.name: entity for members in entities.values() for entity in members}
    return Wiki(entities=everyone, facts=facts, by_name=by_name)
