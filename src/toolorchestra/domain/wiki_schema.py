"""What the wiki says of each kind of thing: its relations, and how they are worded.

A question shares its content words with the sentence that answers it and with no other sentence
about the same thing, so that a search over words can find it. A relation that leads to another
thing carries a noun phrase, from which two-hop questions are built.
"""

from __future__ import annotations

from dataclasses import dataclass

LABELS = {
    "town": "{}",
    "river": "the river {}",
    "person": "{}",
    "firm": "the firm {}",
    "museum": "the museum {}",
}
"""How a thing of each kind is named in a sentence."""

NUM_ENTITIES = {"town": 50, "river": 30, "person": 60, "firm": 40, "museum": 20}


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """One thing that the wiki knows about every entity of a kind.

    `{e}` stands for the entity and `{v}` for the value.
    """

    name: str
    sentence: str
    questions: tuple[str, ...]
    target: str | None = None
    """Kind of the entity that the value is, or None where the value leads nowhere."""
    phrase: str = ""
    """Names the value without knowing it; only where `target` is given."""
    numbers: tuple[int, int] | None = None
    """Smallest and largest value where it is a number; where this and `target` are None the value
    is an invented name."""


RELATIONS: dict[str, tuple[Relation, ...]] = {
    "town": (
        Relation(
            name="founder",
            sentence="The founder of {e} is {v}.",
            questions=("Who is the founder of {e}?", "Name the founder of {e}."),
            target="person",
            phrase="the founder of {e}",
        ),
        Relation(
            name="population",
            sentence="The population of {e} is {v}.",
            questions=("What is the population of {e}?", "How large is the population of {e}?"),
            numbers=(1_100, 98_000),
        ),
        Relation(
            name="river",
            sentence="{e} lies on the river {v}.",
            questions=("On which river does {e} lie?", "Which river does {e} lie on?"),
            target="river",
            phrase="the river on which {e} lies",
        ),
        Relation(
            name="mayor",
            sentence="The mayor of {e} is {v}.",
            questions=("Who is the mayor of {e}?", "Name the mayor of {e}."),
            target="person",
            phrase="the mayor of {e}",
        ),
        Relation(
            name="charter",
            sentence="{e} received its charter in {v}.",
            questions=(
                "In which year did {e} receive its charter?",
                "What year is the charter of {e} from?",
            ),
            numbers=(1100, 1700),
        ),
    ),
    "river": (
        Relation(
            name="length",
            sentence="The length of {e} is {v} km.",
            questions=("What is the length of {e} in km?", "How many km is the length of {e}?"),
            numbers=(40, 1900),
        ),
        Relation(
            name="source",
            sentence="{e} springs from the mountain {v}.",
            questions=(
                "From which mountain does {e} spring?",
                "Which mountain does {e} spring from?",
            ),
        ),
        Relation(
            name="mouth",
            sentence="{e} flows into the lake {v}.",
            questions=("Into which lake does {e} flow?", "Which lake does {e} flow into?"),
        ),
        Relation(
            name="explorer",
            sentence="The explorer of {e} was {v}.",
            questions=("Who was the explorer of {e}?", "Name the explorer of {e}."),
            target="person",
            phrase="the explorer of {e}",
        ),
        Relation(
            name="bridges",
            sentence="{e} has {v} bridges.",
            questions=("How many bridges does {e} have?", "What number of bridges does {e} have?"),
            numbers=(3, 240),
        ),
    ),
    "person": (
        Relation(
            name="birthplace",
            sentence="{e} was born in the town {v}.",
            questions=("In which town was {e} born?", "Where was {e} born?"),
            target="town",
            phrase="the town where {e} was born",
        ),
        Relation(
            name="employer",
            sentence="{e} works for the firm {v}.",
            questions=("For which firm does {e} work?", "Which firm does {e} work for?"),
            target="firm",
            phrase="the firm for which {e} works",
        ),
        Relation(
            name="teacher",
            sentence="The teacher of {e} was {v}.",
            questions=("Who was the teacher of {e}?", "Name the teacher of {e}."),
            target="person",
            phrase="the teacher of {e}",
        ),
        Relation(
            name="wedding",
            sentence="The wedding of {e} was in {v}.",
            questions=(
                "In which year was the wedding of {e}?",
                "What year was the wedding of {e}?",
            ),
            numbers=(1900, 2020),
        ),
        Relation(
            name="book",
            sentence="The book by {e} is called {v}.",
            questions=("What is the book by {e} called?", "Give the title of the book by {e}."),
        ),
    ),
    "firm": (
        Relation(
            name="owner",
            sentence="The owner of {e} is {v}.",
            questions=("Who is the owner of {e}?", "Name the owner of {e}."),
            target="person",
            phrase="the owner of {e}",
        ),
        Relation(
            name="headquarters",
            sentence="The headquarters of {e} are in {v}.",
            questions=(
                "Where are the headquarters of {e}?",
                "Which town has the headquarters of {e}?",
            ),
            target="town",
            phrase="the town with the headquarters of {e}",
        ),
        Relation(
            name="employees",
            sentence="{e} has {v} employees.",
            questions=(
                "How many employees does {e} have?",
                "What number of employees does {e} have?",
            ),
            numbers=(12, 9_400),
        ),
        Relation(
            name="product",
            sentence="The main product of {e} is {v}.",
            questions=("What is the main product of {e}?", "Name the main product of {e}."),
        ),
        Relation(
            name="engineer",
            sentence="The chief engineer of {e} is {v}.",
            questions=("Who is the chief engineer of {e}?", "Name the chief engineer of {e}."),
            target="person",
            phrase="the chief engineer of {e}",
        ),
    ),
    "museum": (
        Relation(
            name="architect",
            sentence="The architect of {e} was {v}.",
            questions=("Who was the architect of {e}?", "Name the architect of {e}."),
            target="person",
            phrase="the architect of {e}",
        ),
        Relation(
            name="town",
            sentence="{e} stands in the town {v}.",
            questions=("In which town does {e} stand?", "Which town does {e} stand in?"),
            target="town",
            phrase="the town in which {e} stands",
        ),
        Relation(
            name="opening",
            sentence="{e} opened its doors in {v}.",
            questions=(
                "In which year did {e} open its doors?",
                "What year did {e} open its doors?",
            ),
            numbers=(1700, 2020),
        ),
        Relation(
            name="paintings",
            sentence="{e} shows {v} paintings.",
            questions=(
                "How many paintings does {e} show?",
                "What number of paintings does {e} show?",
            ),
            numbers=(20, 3_000),
        ),
        Relation(
            name="curator",
            sentence="The curator of {e} is {v}.",
            questions=("Who is the curator of {e}?", "Name the curator of {e}."),
            target="person",
            phrase="the curator of {e}",
        ),
    ),
}


def capitalised(text: str) -> str:
    """`text` with its first letter in upper case and the others as they are."""
    return text[:1].upper() + text[1:]
