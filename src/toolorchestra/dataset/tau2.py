"""Tasks of tau2-bench: each is played once before the first comes again, and none is trained on."""

from __future__ import annotations

from toolorchestra.dataset.config import Tau2Config
from toolorchestra.dataset.cycle import Cycle
from toolorchestra.dataset.split import digest
from toolorchestra.domain.goal import Tau2Goal, as_task
from toolorchestra.domain.tau2.load import load_tau2
from toolorchestra.domain.tau2.names import PREFIX


def tau2_tasks(config: Tau2Config, *, seed: int) -> Cycle:
    """The tasks of a domain, all of them held out, in an order that depends on the seed.

    Raises:
        ValueError: The package is not there, or another one.
    """
    domain = load_tau2(PREFIX + config.domain)
    tasks = [as_task(Tau2Goal(domain=domain, task=task)) for task in domain.tasks.values()]
    tasks.sort(key=lambda task: digest(f"{seed}/{task.id}"))
    return Cycle(parts={"heldout": tasks})
