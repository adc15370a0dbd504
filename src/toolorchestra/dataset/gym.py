"""Math and logic tasks from the package reasoning-gym, with its own verifiers.

The questions are put more briefly than the package puts them; the entry itself is kept, so that the
family that made a task also scores it. The package takes more than a second to import: it is loaded
when the first task of these skills is drawn, not before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from toolorchestra.dataset.family import Draft, Family
from toolorchestra.types import Json

_NUM_ENTRIES = 2**31


@dataclass(frozen=True, kw_only=True, slots=True)
class GymFamily:
    """How one family is drawn and put."""

    skill: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the family's own config: how hard it is."""
    wording: str
    """The question; its fields are filled from the entry's metadata."""
    answer_kind: str = "number"
    """The matcher that also accepts what the family's own verifier is too strict for."""
    fields: Callable[[Json], Json] = dict
    """Makes the fields of `wording` from the entry's metadata."""


def _joined_numbers(metadata: Json) -> Json:
    return {"numbers": " and ".join(map(str, metadata["numbers"]))}


def _sequence_start(metadata: Json) -> Json:
    return {"start": ", ".join(map(str, metadata["sequence"][:-1]))}


def _counted_animals(metadata: Json) -> Json:
    animals = [f"{count} x {name}" for name, count in metadata["animals"].items()]
    return {"animals": " and ".join([", ".join(animals[:-1]), animals[-1]])}


GYM_FAMILIES: dict[str, GymFamily] = {
    "chain_sum": GymFamily(
        skill="math",
        options={"min_terms": 3, "max_terms": 4, "min_digits": 2, "max_digits": 2},
        wording="What is {expression}?",
    ),
    "basic_arithmetic": GymFamily(
        skill="math",
        options={"min_terms": 3, "max_terms": 4, "max_digits": 2, "operators": ("+", "-", "*")},
        wording="How much is {expression}?",
    ),
    "products": GymFamily(
        skill="math",
        options={"min_digits": 2, "max_digits": 3},
        wording="Multiply {expression}.",
    ),
    "decimal_chain_sum": GymFamily(
        skill="math",
        options={"max_terms": 3, "max_digits": 2, "max_decimal_places": 2},
        wording="Give the exact value of {expression}.",
    ),
    "lcm": GymFamily(
        skill="math",
        options={"min_value": 12, "max_value": 99},
        wording="What is the least common multiple of {numbers}?",
        fields=_joined_numbers,
    ),
    "simple_equations": GymFamily(
        skill="math",
        options={"max_terms": 3},
        wording="Solve for {variable}: {equation}.",
    ),
    "number_sequence": GymFamily(
        skill="logic",
        # Repeated squaring in longer sequences fills megabytes before the package discards them.
        options={"max_terms": 6, "max_complexity": 2},
        wording="Which number comes next: {start}?",
        fields=_sequence_start,
    ),
    "spell_backward": GymFamily(
        skill="logic",
        options={"min_word_len": 4, "max_word_len": 7},
        wording="Spell the word {word} backward.",
        answer_kind="text",
    ),
    "base_conversion": GymFamily(
        skill="logic",
        options={"min_base": 5, "max_base": 16, "min_value": 100, "max_value": 2000},
        wording="Write the base-{source_base} number {source_repr} in base {target_base}.",
        answer_kind="text",
    ),
    "leg_counting": GymFamily(
        skill="logic",
        options={"min_animals": 2, "max_animals": 3},
        wording="How many legs are there in total: {animals}?",
        fields=_counted_animals,
    ),
}


@lru_cache(maxsize=len(GYM_FAMILIES))
def gym_dataset(name: str) -> Any:
    """The package's generator and verifier of the family `name`, made once in a process.

    Raises:
        KeyError: the family is not one of `GYM_FAMILIES`.
    """
    family = GYM_FAMILIES[name]
    import reasoning_gym

    return reasoning_gym.create_dataset(name, seed=0, size=_NUM_ENTRIES, **family.options)


def draw(name: str, rng: random.Random) -> Draft:
    """A task of the family `name`."""
    family = GYM_FAMILIES[name]
    entry = gym_dataset(name)[rng.randrange(_NUM_ENTRIES)]
    question = family.wording.format(**family.fields(entry["metadata"]))
    kept = {"question": entry["question"], "answer": entry["answer"]}
    return Draft(
        question=question,
        answer=entry["answer"],
        answer_kind="reasoning_gym",
        key=question,
        metadata={"family": name, "answer_kind": family.answer_kind, "entry": kept},
    )


def gym_families(skill: str) -> dict[str, Family]:
    """The families of `skill` by name."""

    def bind(name: str) -> Family:
        return lambda rng: draw(name, rng)

    return {name: bind(name) for name, family in GYM_FAMILIES.items() if family.skill == skill}
