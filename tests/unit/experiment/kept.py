"""What is kept of runs, by hand."""

from __future__ import annotations

from typing import Any

from toolorchestra.experiment.extract import Extract, Numbers, WorldNumbers


def numbers(**changes: Any) -> Numbers:
    """Four episodes, three of them solved."""
    fields: dict[str, Any] = {
        "episode": (0, 1, 2, 3),
        "is_solved": (1.0, 0.0, 1.0, 1.0),
        "utility": (1.0, 0.0, 0.5, 0.7),
        "cents": (2.0, 4.0, 1.0, 1.0),
        "seconds": (60.0, 120.0, 30.0, 30.0),
        "relative": (),
        "calls": {"big": (3, 4), "small": (1, 2)},
        "num_calls": 4,
        "num_malformed": 1,
    }
    return Numbers(**(fields | changes))


def world(**policies: Numbers) -> WorldNumbers:
    return WorldNumbers(
        episodes=("e0", "e1", "e2", "e3"),
        skills=("math", "math", "lookup", "logic"),
        policies=policies,
    )


def kept(worlds: dict[str, WorldNumbers], **changes: Any) -> Extract:
    fields: dict[str, Any] = {
        "key": "k",
        "command": "evaluate.py toolset=local",
        "git_commit": "c",
        "is_git_dirty": False,
        "seconds": 9.0,
        "choices": {"toolset": "local", "model": "tiny"},
        "shown_as": {"big": "sim/Big", "small": "small"},
        "worlds": worlds,
    }
    return Extract(**(fields | changes))
