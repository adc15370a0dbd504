"""Whether what the policy reads first leaves it room to write, seen before anything is played.

Otherwise every rollout of such a task would end before its first message, and a run would train on
nothing for hours without a word.
"""

from __future__ import annotations

import logging

from toolorchestra.build import build_sampler
from toolorchestra.config import PlayConfig
from toolorchestra.dataset.cycle import Cycle
from toolorchestra.dataset.mix import BLOCK
from toolorchestra.dataset.source import TaskSource
from toolorchestra.dataset.split import Split
from toolorchestra.rollout.speaker import Speaker
from toolorchestra.types import Task
from toolorchestra.worlds import worlds_of

log = logging.getLogger(__name__)

NUM_TASKS = 24
"""Tasks that are looked at, of which the longest of each skill is put into words."""


def check_room(
    config: PlayConfig,
    speaker: Speaker,
    tasks: TaskSource,
    *,
    split: Split,
    row_tokens: int | None = None,
) -> None:
    """Puts a few first prompts of a split into tokens; a word in the log where room is scarce.

    Args:
        config: The worlds, and the policy's `max_context`.
        speaker: How the policy is spoken to.
        tasks: Where the episodes' tasks come from.
        split: "train" looks at the first world alone.
        row_tokens: Most that a row of training may have, where there is training.

    Raises:
        ValueError: A prompt fills the context, so that nothing could be said, or a row, so that
            nothing could be trained on.
    """
    dataset = config.dataset if split == "train" else config.heldout
    longest = _longest(tasks, split, domains=set(dataset.domains))
    source = Cycle(parts={split: longest})
    worlds = worlds_of(config)
    for name, toolset, pricing, _ in worlds[:1] if split == "train" else worlds:
        sampler = build_sampler(config, toolset, pricing, source, split)
        for index, task in enumerate(longest):
            prompt = speaker.conversation().prompt(sampler(index), (), is_ended=True)
            place = f"{task.skill} in the {name} world"
            _check_context(config, len(prompt.ids), place)
            if row_tokens is not None and len(prompt.ids) >= row_tokens:
                raise ValueError(
                    f"trainer.micro_batch_tokens: {row_tokens} is not allowed, as the prompt of a "
                    f"task of {place} takes {len(prompt.ids)} tokens, and a rollout is trained on "
                    f"as a whole; use at least {config.model.max_context} (model.max_context)"
                )


def _check_context(config: PlayConfig, num_tokens: int, place: str) -> None:
    model = config.model
    needed = num_tokens + model.max_new_tokens
    if num_tokens >= model.max_context:
        raise ValueError(
            f"model.max_context: {model.max_context} is not allowed, as the prompt of a task of "
            f"{place} takes {num_tokens} tokens and a message {model.max_new_tokens} "
            f"(model.max_new_tokens); use at least {needed}, or tasks and tools that take less"
        )
    if needed > model.max_context:
        log.info(
            "the prompt of a task of %s takes %d of the %d tokens of model.max_context, and leaves "
            "a message less than its model.max_new_tokens of %d",
            place, num_tokens, model.max_context, model.max_new_tokens,
        )  # fmt: skip


def _longest(tasks: TaskSource, split: Split, *, domains: set[str]) -> list[Task]:
    """The longest of the first tasks of each skill, until every domain has had one.

    Shares of a mixture hold in every block, of which one may lie in another.
    """
    found: dict[str, Task] = {}
    for index in range(2 * BLOCK):
        if index >= NUM_TASKS and domains <= found.keys():
            break
        task = tasks(index, split)
        if task.skill not in found or len(task.question) > len(found[task.skill].question):
            found[task.skill] = task
    return list(found.values())
