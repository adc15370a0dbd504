"""What every test shares: no network, repeatable Hypothesis runs, and makers of small records."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from toolorchestra.types import Episode, OfferedTool, Preference, Price, Task

os.environ.update(
    HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", WANDB_MODE="offline", WANDB_SILENT="true"
)
if "PYTEST_XDIST_WORKER" in os.environ:  # else all files together want several times the cores
    os.environ.setdefault("OMP_NUM_THREADS", "1")
# a shell starts background jobs deaf to Ctrl-C, which some tests press
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

Make = Callable[..., Any]


@pytest.fixture
def make_tool() -> Make:
    """`make_tool(name="calculator", call_cost_usd=0.01)`: an offered tool without arguments."""

    def make(**changes: Any) -> OfferedTool:
        name = changes.get("name", "calculator")
        fields = {
            "name": name,
            "shown_as": name,
            "description": "Computes.",
            "parameters": {"type": "object", "properties": {}},
            "priced_as": ("calculator",),
            "price": Price(usd_per_call=0.01, source="made up", date="2026-01-01"),
            "call_cost_usd": 0.01,
            "latency_s": 1.0,
        }
        return OfferedTool(**(fields | changes))

    return make


@pytest.fixture
def make_episode(make_tool: Make) -> Make:
    """`make_episode(seed=3)`: a sum to solve, one tool, a preference for outcome alone."""

    def make(**changes: Any) -> Episode:
        fields = {
            "id": "episode-0",
            "seed": 0,
            "task": Task(id="task-0", skill="math", question="What is 2 + 2?", answer="4"),
            "tools": (make_tool(),),
            "pricing": "official",
            "policy_priced_as": ("tiny-policy",),
            "policy_price": Price(source="made up", date="2026-01-01"),
            "preference": Preference(
                kind="outcome", instruction="Be right.", outcome=1.0, cost=0.0, latency=0.0
            ),
            "is_solvable": True,
        }
        return Episode(**(fields | changes))

    return make
