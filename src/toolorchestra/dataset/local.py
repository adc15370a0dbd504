"""The local world's tasks: offline, endless, each a pure function of seed, split and index."""

from __future__ import annotations

import random
from collections.abc import Mapping

from toolorchestra.dataset.code import CODE_FAMILIES
from toolorchestra.dataset.config import check_skills
from toolorchestra.dataset.family import Draft, Family
from toolorchestra.dataset.gym import gym_families
from toolorchestra.dataset.lookup import LOOKUP_FAMILIES
from toolorchestra.dataset.multihop import MULTIHOP_FAMILIES
from toolorchestra.dataset.service import SERVICE_FAMILIES
from toolorchestra.dataset.split import SPLITS, Split, side_of
from toolorchestra.types import Task

FAMILIES: Mapping[str, Mapping[str, Family]] = {
    "math": gym_families("math"),
    "logic": gym_families("logic"),
    "code": CODE_FAMILIES,
    "lookup": LOOKUP_FAMILIES,
    "multihop": MULTIHOP_FAMILIES,
    "service": SERVICE_FAMILIES,
}
"""The families of each skill; a task takes one of its skill's with equal odds."""


def _draw_on_side(family: Family, rng: random.Random, split: Split) -> Draft:
    while True:  # half of all keys lie on each side, so this takes two draws on average
        draft = family(rng)
        if side_of(draft.key) == split:
            return draft


def local_task(index: int, *, seed: int, split: Split, skills: Mapping[str, float]) -> Task:
    """The task number `index` of a split.

    Args:
        index: 0 or more; there is no last one.
        seed: Another seed gives other tasks.
        split: No question, entity or parcel of one split occurs in the other, whatever the seeds.
        skills: Relative weight by skill.

    Returns:
        The same task in every process for the same arguments.

    Raises:
        ValueError: an unknown split or skill, or no weight above 0.
    """
    if split not in SPLITS:
        raise ValueError(f"split: {split!r} is not allowed; use {' or '.join(SPLITS)}")
    check_skills(skills)
    rng = random.Random(f"{seed}/{split}/{index}")
    names = sorted(skills)  # so that the order in which a config names them changes nothing
    skill = rng.choices(names, weights=[skills[name] for name in names])[0]
    family = FAMILIES[skill][rng.choice(list(FAMILIES[skill]))]
    draft = _draw_on_side(family, rng, split)
    return Task(
        id=f"local-{split}-{seed}-{index}",
        skill=skill,
        question=draft.question,
        answer=draft.answer,
        answer_kind=draft.answer_kind,
        metadata=draft.metadata,
    )
