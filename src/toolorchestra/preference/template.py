"""Writes a table of pairs from templates: seeded, offline, the same in every process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from toolorchestra.preference import wordings
from toolorchestra.preference.config import TableConfig
from toolorchestra.preference.table import SPLITS, Admission, Pair, Split, tells_apart
from toolorchestra.preference.traits import ToolTraits, instead_of
from toolorchestra.preference.wordings import Wording
from toolorchestra.types import Preference

COST_BESIDE_TOOLS = 0.25
"""P's cost in a wish that is about tools: calls are to pay off."""
GROUP_SHARE = 0.5
"""Weights of several tools add up in a reward, hence each is less than that of a single one."""
_COMBINATIONS_TRIED = 20
"""For each pair of the table: most that are tried are good, and none is needed twice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wish:
    preference: Preference
    unwanted: frozenset[str] = field(default_factory=frozenset)
    """Tools that it rules out; a combination gives them no weight."""


_Writer = Callable[[Split, Sequence[ToolTraits], Random], Iterator[_Wish]]


def write_pairs(tools: Sequence[ToolTraits], config: TableConfig) -> tuple[Pair, ...]:
    """All pairs for a toolset, kinds in turn, as many of each as there are.

    Args:
        tools: Of the toolset, in any order.
        config: How many, which share for evaluation, and the seed.

    Returns:
        Pairs whose vectors were checked, no two of them with the same words.
    """
    tools = sorted(tools, key=lambda tool: tool.name)
    names = [tool.name for tool in tools]
    admission, pairs = Admission(names), list[Pair]()
    num_eval = max(1, round(config.num_pairs * config.eval_share))
    for split, num in zip(SPLITS, (config.num_pairs - num_eval, num_eval), strict=True):
        wishes = _in_turn(split, tools, f"{config.seed}/{split}")
        limit = len(pairs) + num
        while len(pairs) < limit and (wish := next(wishes, None)) is not None:
            if not tells_apart(wish.preference, names):
                continue
            try:
                admission.admit(wish.preference, f"pair {len(pairs)}")
            except ValueError:  # tools whose names differ by a dash only: the words are there
                continue
            pairs.append(Pair(split=split, preference=wish.preference))
    return tuple(pairs)


def _in_turn(split: Split, tools: Sequence[ToolTraits], seed: str) -> Iterator[_Wish]:
    """One wish of each kind, then the next, until no kind has another."""
    queues = [write(split, tools, Random(f"{seed}/{kind}")) for kind, write in WRITERS.items()]
    while queues:
        for queue in tuple(queues):
            wish = next(queue, None)
            if wish is None:
                queues.remove(queue)
            else:
                yield wish


def _cost(split: Split, tools: Sequence[ToolTraits], rng: Random) -> Iterator[_Wish]:
    for text, strength in _shuffled(wordings.COST[split], rng):
        yield _wish("cost", text, cost=strength)


def _latency(split: Split, tools: Sequence[ToolTraits], rng: Random) -> Iterator[_Wish]:
    for text, strength in _shuffled(wordings.LATENCY[split], rng):
        yield _wish("latency", text, latency=strength)


def _privacy(split: Split, tools: Sequence[ToolTraits], rng: Random) -> Iterator[_Wish]:
    local = [tool.name for tool in tools if tool.is_local]
    remote = frozenset(tool.name for tool in tools if not tool.is_local)
    if local and remote:
        for text, strength in _shuffled(wordings.PRIVACY[split], rng):
            yield _about("privacy", text, local, strength * GROUP_SHARE, unwanted=remote)


def _vendor(split: Split, tools: Sequence[ToolTraits], rng: Random) -> Iterator[_Wish]:
    families = sorted({tool.family for tool in tools} - {""})
    likes = _about_each(wordings.LIKE_VENDOR[split], families, rng)
    dislikes = _about_each(wordings.DISLIKE_VENDOR[split], families, rng)
    for liked, disliked in zip(likes, dislikes, strict=True):
        for (text, family, strength), is_liked in ((liked, True), (disliked, False)):
            own = [tool.name for tool in tools if tool.family == family]
            if not (wanted := own if is_liked else instead_of(own, tools)):
                continue
            yield _about(
                "vendor",
                text.format(family=family),
                wanted,
                strength * GROUP_SHARE,
                unwanted=frozenset(() if is_liked else own),
            )


def _like(split: Split, tools: Sequence[ToolTraits], rng: Random) -> Iterator[_Wish]:
    for text, name, strength in _about_each(wordings.LIKE[split], _names(tools), rng):
        yield _about("like", text.format(tool=name), [name], strength)


def _dislike(split: Split, tools: Sequence[ToolTraits], rng: Random) -> Iterator[_Wish]:
    for text, name, strength in _about_each(wordings.DISLIKE[split], _names(tools), rng):
        if not (wanted := instead_of([name], tools)):
            continue
        yield _about(
            "dislike",
            text.format(tool=name),
            wanted,
            strength * (GROUP_SHARE if len(wanted) > 1 else 1.0),
            unwanted=frozenset([name]),
        )


def _combination(split: Split, tools: Sequence[ToolTraits], rng: Random) -> Iterator[_Wish]:
    single = {kind: list(write(split, tools, rng)) for kind, write in _SINGLE.items()}
    kinds = [kind for kind, wishes in single.items() if wishes]
    for _ in range(_COMBINATIONS_TRIED * len(kinds) * len(tools)):
        first, second = (rng.choice(single[kind]) for kind in rng.sample(kinds, 2))
        text = rng.choice(wordings.JOINTS[split]).format(
            first=first.preference.instruction, second=second.preference.instruction
        )
        if (joined := _joined(text, first, second)) is not None:
            yield joined


def _joined(text: str, first: _Wish, second: _Wish) -> _Wish | None:
    """Both wishes in one; None where one rules out what the other is about."""
    a, b = first.preference, second.preference
    unwanted = first.unwanted | second.unwanted
    tools = {
        name: max(a.tools.get(name, 0.0), b.tools.get(name, 0.0))
        for name in sorted({*a.tools, *b.tools} - unwanted)
    }
    if any(wish.tools and not wish.tools.keys() & tools.keys() for wish in (a, b)):
        return None
    plain = [wish for wish in (a, b) if not wish.tools] or [a, b]
    return _Wish(
        preference=Preference(
            kind="combination",
            instruction=text,
            outcome=1.0,
            cost=max(wish.cost for wish in plain),
            latency=max(wish.latency for wish in plain),
            tools=tools,
        ),
        unwanted=unwanted,
    )


_SINGLE: Mapping[str, _Writer] = {
    "cost": _cost,
    "latency": _latency,
    "privacy": _privacy,
    "vendor": _vendor,
    "like": _like,
    "dislike": _dislike,
}

WRITERS: Mapping[str, _Writer] = {**_SINGLE, "combination": _combination}
"""By kind, what yields its wishes in the order of a generator."""


def _wish(kind: str, text: str, *, cost: float = 0.0, latency: float = 0.0) -> _Wish:
    return _Wish(
        preference=Preference(kind=kind, instruction=text, outcome=1.0, cost=cost, latency=latency)
    )


def _about(
    kind: str,
    text: str,
    wanted: Sequence[str],
    weight: float,
    *,
    unwanted: frozenset[str] = frozenset(),
) -> _Wish:
    plain = _wish(kind, text, cost=COST_BESIDE_TOOLS)
    weighted = replace(plain.preference, tools=dict.fromkeys(wanted, weight))
    return _Wish(preference=weighted, unwanted=unwanted)


def _about_each(
    texts: Sequence[Wording], names: Sequence[str], rng: Random
) -> Iterator[tuple[str, str, float]]:
    """Every wording about every name; all names come once before one comes again."""
    texts, names = _shuffled(texts, rng), rng.sample(names, len(names))
    for turn in range(len(texts)):
        for number, name in enumerate(names):
            text, strength = texts[(turn + number) % len(texts)]
            yield text, name, strength


def _names(tools: Sequence[ToolTraits]) -> list[str]:
    return [tool.name for tool in tools]


def _shuffled(texts: Sequence[Wording], rng: Random) -> list[Wording]:
    return rng.sample(list(texts), len(texts))
