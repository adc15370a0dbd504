"""The worlds of a run, and what only a look at several groups at once can find wrong with them.

Nothing heavy is imported here, so that a whole grid of configs can be checked in seconds.
"""

from __future__ import annotations

from toolorchestra.config import PlayConfig
from toolorchestra.preference.vector import check_preference
from toolorchestra.pricing.check import check_pricing
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.toolset.config import ToolsetConfig


def worlds_of(config: PlayConfig) -> list[tuple[str, ToolsetConfig, PricingConfig, int]]:
    """Name, toolset, pricing and number of held-out episodes of each world of the evaluation."""
    benchmark = config.benchmark
    worlds = [(config.world, config.toolset, config.pricing, benchmark.num_episodes)]
    if benchmark.transfer is not None and benchmark.num_episodes:
        other = benchmark.transfer
        worlds.append(("transfer", other.toolset, other.pricing, other.num_episodes))
    return worlds


def check_worlds(config: PlayConfig) -> list[str]:
    """Checks what no single group can check alone; returns what is masked or borrowed.

    Raises:
        ValueError: a tool without a price where none may be missing, a preference over tools that
            do not exist, or too few tools.
    """
    notes = []
    for name, toolset, pricing, _ in worlds_of(config):
        models = {tool: options.charged_as for tool, options in toolset.tools.items()}
        found = check_pricing(
            pricing, models=models, policy=config.model.priced_as, min_tools=toolset.min_tools
        )
        notes += [f"{name} world: {note}" for note in found]
    check_preference(config.preference, config.toolset.tools)
    return notes
