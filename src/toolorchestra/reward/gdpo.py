"""Normalise, then sum: every term on its own scale before it is weighted (GDPO, arXiv 2601.05242).

Summing first lets different mixes of terms end in the same advantage, and lets the term with the
widest spread drown the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolorchestra.reward.combine import Terms, weighted_terms
from toolorchestra.reward.normalize import standardize
from toolorchestra.types import Measures, Preference


def gdpo_terms(measures: Sequence[Measures], preference: Preference) -> list[Terms]:
    """The terms of Eq. 2, each brought to mean 0 and std 1 over the group, then weighted by P.

    The terms of an unsolved rollout are set to 0 before that, as in Eq. 2, so that being cheap and
    wrong pays nothing. A reward may be negative; those of a group sum to 0.

    Args:
        measures: M of each scored rollout of one episode.
        preference: P.

    Raises:
        ValueError: P has a weight outside [0, 1] or for a tool that is not offered.
    """
    return weighted_terms(measures, preference, standardize)
