"""Which episodes two runs share: the same task, tools, prices, preference and seed in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from toolorchestra.report.measures.attempt import Attempt, EpisodeDigest

AS_DRAWN = "use runs of the same benchmark, toolset, pricing, preference and seed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One of two policies that are compared: all that it played in one world."""

    run: str
    """Its run, for messages."""
    policy: str
    attempts: tuple[Attempt, ...]

    @property
    def name(self) -> str:
        """As tables call it."""
        return f"{self.run}: {self.policy}"

    @property
    def episodes(self) -> dict[str, list[Attempt]]:
        """Its attempts by episode."""
        found: dict[str, list[Attempt]] = {}
        for item in self.attempts:
            found.setdefault(item.episode, []).append(item)
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """What two policies did at one episode."""

    task: str
    ours: tuple[Attempt, ...]
    theirs: tuple[Attempt, ...]


def pair_episodes(ours: Side, theirs: Side, *, is_shared_enough: bool = False) -> list[Pair]:
    """The episodes of two policies side by side, in the order of the first.

    Args:
        ours: The first.
        theirs: The second.
        is_shared_enough: Whether episodes that one of them lacks are left out.

    Raises:
        ValueError: No task is in both, or an episode is not; says how many are shared.
    """
    left, right = ours.episodes, theirs.episodes
    num_tasks = [len({a.digest.task for a in side.attempts}) for side in (ours, theirs)]
    common = {a.digest.task for a in ours.attempts} & {a.digest.task for a in theirs.attempts}
    if not common:
        raise ValueError(
            f"{ours.name} and {theirs.name} share 0 of {num_tasks[0]} and {num_tasks[1]} tasks; "
            f"{AS_DRAWN}"
        )
    shared = [name for name, items in left.items() if _is_same(items, right.get(name, []))]
    if not shared or (len(shared) < max(len(left), len(right)) and not is_shared_enough):
        advice = f"{AS_DRAWN}, or --shared to compare those alone" if shared else AS_DRAWN
        raise ValueError(
            f"{ours.name} and {theirs.name} share {len(shared)} of {len(left)} and {len(right)} "
            f"episodes ({_first_difference(ours, theirs)}); {advice}"
        )
    return [
        Pair(task=left[name][0].task, ours=tuple(left[name]), theirs=tuple(right[name]))
        for name in shared
    ]


def _is_same(ours: Sequence[Attempt], theirs: Sequence[Attempt]) -> bool:
    return bool(theirs) and ours[0].digest == theirs[0].digest


def _first_difference(ours: Side, theirs: Side) -> str:
    left, right = ours.episodes, theirs.episodes
    for name, items in left.items():
        if name not in right:
            return f"{name} is only in {ours.run}"
        if not _is_same(items, right[name]):
            first, second = items[0].digest, right[name][0].digest
            parts = [
                field.name
                for field in fields(EpisodeDigest)
                if getattr(first, field.name) != getattr(second, field.name)
            ]
            return f"{name} differs in {', '.join(parts)}"
    return f"{next(name for name in right if name not in left)} is only in {theirs.run}"
