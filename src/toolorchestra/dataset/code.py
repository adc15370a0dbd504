"""Code tasks: the question is a small Python program, the answer is what it prints.

The answers are computed here, by the same rule as the program's and without running any text.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from toolorchestra.dataset.family import Draft, Family

_COMMENT = "# What does this print?"
_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"

Program = tuple[list[str], str]
"""The program's lines without the comment, and what it prints."""


def _word(rng: random.Random, num_letters: int) -> str:
    pools = (_CONSONANTS, _VOWELS)
    return "".join(rng.choice(pools[i % 2]) for i in range(num_letters))


def running_sum(rng: random.Random) -> Program:
    """A loop that adds multiples of its counter."""
    start, count, factor = rng.randint(1, 40), rng.randint(4, 9), rng.randint(2, 9)
    lines = [f"x = {start}", f"for i in range({count}): x += i * {factor}", "print(x)"]
    return lines, str(start + factor * count * (count - 1) // 2)


def growth(rng: random.Random) -> Program:
    """A loop that repeats a linear step."""
    value, factor, shift = rng.randint(1, 9), rng.randint(2, 3), rng.randint(1, 9)
    count = rng.randint(3, 4)
    lines = [f"n = {value}", f"for _ in range({count}): n = n * {factor} + {shift}", "print(n)"]
    for _ in range(count):
        value = value * factor + shift
    return lines, str(value)


def halving(rng: random.Random) -> Program:
    """A loop that ends when a number has shrunk, and sums what it passed."""
    number, divisor, limit = rng.randint(100, 900), rng.randint(2, 3), rng.randint(3, 9)
    lines = [
        f"n, s = {number}, 0",
        f"while n > {limit}:",
        "    s += n",
        f"    n //= {divisor}",
        "print(s)",
    ]
    total = 0
    while number > limit:
        total += number
        number //= divisor
    return lines, str(total)


def filtered_sum(rng: random.Random) -> Program:
    """A comprehension over the numbers that a divisor leaves a rest of."""
    count, divisor = rng.randint(12, 30), rng.randint(3, 7)
    rest = rng.randrange(divisor)
    lines = [f"print(sum([i for i in range({count}) if i % {divisor} == {rest}]))"]
    return lines, str(sum(range(rest, count, divisor)))


def list_product(rng: random.Random) -> Program:
    """Sorting a list, then arithmetic on two of its places."""
    numbers = rng.sample(range(2, 60), 5)
    left, right = rng.sample(range(5), 2)
    lines = [f"a = sorted({numbers})", f"print(a[{left}] * 10 + a[{right}])"]
    numbers = sorted(numbers)
    return lines, str(numbers[left] * 10 + numbers[right])


def squares(rng: random.Random) -> Program:
    """A list built in a loop, of which one entry and the length are used."""
    start, count, place = rng.randint(2, 25), rng.randint(4, 6), rng.randrange(4)
    lines = [
        "a = []",
        f"for i in range({start}, {start + count}):",
        "    a.append(i * i)",
        f"print(a[{place}] + len(a))",
    ]
    return lines, str((start + place) ** 2 + count)


def sliced_word(rng: random.Random) -> Program:
    """Slicing and joining two words."""
    first, second = _word(rng, rng.randint(5, 7)), _word(rng, rng.randint(4, 6))
    cut = rng.randint(2, 4)
    lines = [f"a, b = {first!r}, {second!r}", f"print(b[:{cut}] + a[{cut}:])"]
    return lines, second[:cut] + first[cut:]


def replaced_word(rng: random.Random) -> Program:
    """Replacing a letter and turning a word round."""
    word = _word(rng, rng.randint(5, 8))
    old, new = word[1], rng.choice("xyw")
    lines = [f"w = {word!r}.replace({old!r}, {new!r})", "print(w[::-1])"]
    return lines, word.replace(old, new)[::-1]


SHAPES: dict[str, Callable[[random.Random], Program]] = {
    "running_sum": running_sum,
    "growth": growth,
    "halving": halving,
    "filtered_sum": filtered_sum,
    "list_product": list_product,
    "squares": squares,
    "sliced_word": sliced_word,
    "replaced_word": replaced_word,
}


def _family(name: str) -> Family:
    def draft(rng: random.Random) -> Draft:
        lines, answer = SHAPES[name](rng)
        question = "\n".join([_COMMENT, *lines])
        kind = "number" if answer.isdigit() else "text"
        return Draft(
            question=question,
            answer=answer,
            answer_kind=kind,
            key=question,
            metadata={"family": name},
        )

    return draft


CODE_FAMILIES: dict[str, Family] = {name: _family(name) for name in SHAPES}
