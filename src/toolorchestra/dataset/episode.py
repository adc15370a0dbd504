"""Draws episodes: a task with its tools, prices and preference (paper, section 3.3).

Each is a function of the run's seed, the split and its number alone.
"""

from __future__ import annotations

from random import Random

from toolorchestra.dataset.source import TaskSource
from toolorchestra.dataset.split import Split
from toolorchestra.domain.goal import goal_of
from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.preference.pairs import draw_preference, own_pairs
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.draw import draw_prices
from toolorchestra.pricing.schedule import build_price_book
from toolorchestra.toolset.config import ToolsetConfig
from toolorchestra.toolset.front import fronts_before
from toolorchestra.toolset.offer import offer, offer_function
from toolorchestra.toolset.select import select
from toolorchestra.toolset.wishes import build_table
from toolorchestra.types import Episode, OfferedTool, Price, Task


class EpisodeSampler:
    """Draws numbered episodes of one split."""

    def __init__(
        self,
        *,
        toolset: ToolsetConfig,
        pricing: PricingConfig,
        preference: PreferenceConfig,
        tasks: TaskSource,
        policy: str,
        seed: int,
        split: Split,
    ) -> None:
        """Looks up nothing yet; `policy` is the model that the policy's tokens are priced as."""
        self._toolset, self._pricing, self._preference = toolset, pricing, preference
        self._tasks, self._policy, self._seed, self._split = tasks, policy, seed, split
        self._book = build_price_book(pricing)
        self._models = {name: tool.charged_as for name, tool in toolset.on_offer.items()}
        self._own = own_pairs(preference.pairs)
        self._table = build_table(preference, toolset) if preference.uses_table else None

    def __call__(self, index: int) -> Episode:
        """Episode number `index`, from 0."""
        name = f"{self._split}-{index:06d}"
        rng = Random(f"{self._seed}/{self._toolset.name}/{name}")
        task = self._tasks(index, self._split)
        prices = draw_prices(
            self._book,
            schedules=self._pricing.draw,
            jitter=self._pricing.jitter,
            models=self._models,
            policy=self._policy,
            rng=rng,
        )
        selection = select(
            self._toolset.on_offer,
            skill=task.skill,
            min_tools=self._toolset.min_tools,
            max_tools=self._toolset.max_tools,
            rng=rng,
            prices=prices.tools.keys(),
            needed=self._toolset.answering,
        )
        functions = self._functions(task)
        return Episode(
            id=name,
            seed=rng.getrandbits(63),
            task=task,
            tools=(
                *(self._offer(tool, task, prices.tools[tool]) for tool in selection.names),
                *functions,
            ),
            pricing=prices.schedule,
            policy_priced_as=(self._policy,),
            policy_price=prices.policy,
            preference=draw_preference(
                self._preference.kinds,
                selection.names,
                rng,
                split="train" if self._split == "train" else "eval",
                own=self._own,
                table=self._table,
            ),
            is_solvable=selection.is_solvable or bool(functions),
            fronts=fronts_before(self._toolset.fronts, selection.names),
        )

    def _functions(self, task: Task) -> tuple[OfferedTool, ...]:
        """Those of the task's domain, in its own order: an episode offers them all."""
        goal = goal_of(task)
        functions = goal.domain.functions.values() if goal is not None else ()
        latency_s = self._toolset.domain_latency_s
        return tuple(offer_function(function, latency_s=latency_s) for function in functions)

    def _offer(self, tool: str, task: Task, price: Price) -> OfferedTool:
        return offer(
            tool,
            self._toolset.tools[tool],
            question=task.question,
            price=price,
            is_simulated=self._toolset.is_simulated(tool),
        )
