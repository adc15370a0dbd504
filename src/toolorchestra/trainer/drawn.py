"""What a step's episodes were drawn with (paper, section 3.3): the distribution trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from toolorchestra.types import Episode


def drawn_metrics(episodes: Sequence[Episode]) -> dict[str, float]:
    """Shares of the episodes, each from 0 to 1, and the mean number of tools.

    Keys: tools offered, then the share that offers each tool, that has each pricing schedule,
    preference kind and skill.
    """
    counts: Counter[str] = Counter()
    for episode in episodes:
        counts.update(f"offered/{tool.name}" for tool in episode.tools)
        counts[f"pricing/{episode.pricing}"] += 1
        counts[f"preference/{episode.preference.kind}"] += 1
        counts[f"skill/{episode.task.skill}"] += 1
    if not episodes:
        return {}
    total = len(episodes)
    num_tools = sum(len(episode.tools) for episode in episodes) / total
    shares = {f"drawn/{name}": counts[name] / total for name in sorted(counts)}
    return {"drawn/num_tools": num_tools, **shares}
