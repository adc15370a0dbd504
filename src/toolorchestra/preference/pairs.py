"""Draws a preference pair: an instruction and the vector P that it means (paper, Appendix F).

Instructions are short, for a small policy. Those for evaluation share only the key word with those
for training, as the paper keeps its pairs for training and evaluation apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from toolorchestra.preference.config import TABLE_KINDS, PairConfig
from toolorchestra.preference.table import PairTable, Split
from toolorchestra.preference.vector import check_vector
from toolorchestra.types import Preference

WORDINGS: Mapping[str, Mapping[Split, Sequence[str]]] = {
    "none": {"train": ("",), "eval": ("",)},
    "balanced": {
        "train": ("Balance price and time.", "Find a good balance.", "Keep a balance."),
        "eval": ("Strike the right balance.", "Let everything balance."),
    },
    "frugal": {
        "train": ("Keep it cheap.", "Cheap tools only.", "Spend little, stay cheap."),
        "eval": ("Make this cheap, please.", "I want a cheap answer."),
    },
    "hurried": {
        "train": ("Be fast.", "Answer fast.", "I need it fast."),
        "eval": ("Get this done fast.", "Speed matters, go fast."),
    },
    "thorough": {
        "train": ("Just be correct.", "Only being correct counts.", "Be correct at any price."),
        "eval": ("Get me the correct one.", "A correct result above all."),
    },
    "tool": {
        "train": (
            "Use {tool} where you can.",
            "Prefer {tool}.",
            "Call {tool} if possible.",
            "Ask {tool} first.",
            "Go with {tool}, please.",
            "{tool} is my choice.",
            "Let {tool} answer.",
            "My favourite is {tool}.",
            "Whenever it helps, work with {tool}.",
        ),
        "eval": ("Rely on {tool} mostly.", "I like {tool} best."),
    },
}

VECTORS = {
    "none": (1.0, 0.5, 0.25),
    "balanced": (1.0, 0.5, 0.25),
    "frugal": (1.0, 1.0, 0.0),
    "hurried": (1.0, 0.0, 1.0),
    "thorough": (1.0, 0.0, 0.0),
    "tool": (1.0, 0.25, 0.0),
}
"""Outcome, cost and latency of each kind; `tool` adds weight 1 on the tool that it names."""


def own_pairs(pairs: Mapping[str, PairConfig]) -> dict[str, Preference]:
    """The user's own pairs as records, by kind."""
    return {
        kind: Preference(
            kind=kind,
            instruction=pair.instruction,
            outcome=pair.outcome,
            cost=pair.cost,
            latency=pair.latency,
            tools=dict(pair.tools),
        )
        for kind, pair in pairs.items()
    }


def draw_preference(
    kinds: Mapping[str, float],
    offered_tools: Sequence[str],
    rng: Random,
    split: Split = "train",
    *,
    own: Mapping[str, Preference] | None = None,
    table: PairTable | None = None,
) -> Preference:
    """Draws the preference of one episode.

    Args:
        kinds: Sampling weight of each kind, at least one above 0.
        offered_tools: Names of the tools that the episode offers; without any, none is named.
        rng: The episode's generator.
        split: Whose wordings to use; the user's own pairs have one wording for both.
        own: The user's own pairs, by kind.
        table: Where the kinds of a table are drawn from; one of which no pair fits the offered
            tools is left out, and where nothing else has a weight, there is no wish.

    Returns:
        A pair whose vector was checked against the offered tools.
    """
    fitting = table.fitting(split, offered_tools) if table else {}
    possible = {k: w for k, w in kinds.items() if k not in TABLE_KINDS or k in fitting}
    if not offered_tools:
        possible.pop("tool", None)
    if not any(possible.values()):
        possible = {"none": 1.0}
    kind = rng.choices(list(possible), weights=list(possible.values()))[0]
    if kind in fitting:
        preference = rng.choice(fitting[kind])
    elif own and kind in own:
        offered = {t: weight for t, weight in own[kind].tools.items() if t in offered_tools}
        preference = replace(own[kind], tools=offered)
    else:
        preference = _word(kind, offered_tools, rng, split)
    check_vector(preference, offered_tools)
    return preference


def _word(kind: str, offered_tools: Sequence[str], rng: Random, split: Split) -> Preference:
    outcome, cost, latency = VECTORS[kind]
    wording = rng.choice(list(WORDINGS[kind][split]))
    tool = rng.choice(list(offered_tools)) if kind == "tool" else ""
    return Preference(
        kind=kind,
        instruction=wording.format(tool=tool),
        outcome=outcome,
        cost=cost,
        latency=latency,
        tools={tool: 1.0} if tool else {},
    )
