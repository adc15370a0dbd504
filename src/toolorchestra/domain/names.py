"""Invented proper names, so that no model and no web page can know the answers in advance."""

from __future__ import annotations

import random
from collections.abc import Callable

_SINGLE_ONSETS = "bdfghjklmnprstvz"
_DOUBLE_ONSETS = ("br", "dr", "gr", "kr", "pl", "st", "tr")
_ONSETS: tuple[str, ...] = (*_SINGLE_ONSETS, *_DOUBLE_ONSETS)
_VOWELS = "aeiou"
_CODAS = "lnrsxmd"
_UNIQUE_LETTERS = 4


def _invent_word(rng: random.Random) -> str:
    start = rng.choice(_ONSETS) + rng.choice(_VOWELS)
    middle = rng.choice(_CODAS[:3]) + rng.choice("bdgkmtv")
    return f"{start}{middle}{rng.choice(_VOWELS)}{rng.choice(_CODAS)}".capitalize()


def name_maker(rng: random.Random) -> Callable[[], str]:
    """Returns a function that gives a new word such as "Veldor" at each call.

    No two words of one maker share their first four letters, so that a search that works on pieces
    of words can tell them apart.
    """
    taken: set[str] = set()

    def make() -> str:
        while True:
            word = _invent_word(rng)
            if word[:_UNIQUE_LETTERS] not in taken:
                taken.add(word[:_UNIQUE_LETTERS])
                return word

    return make
