"""The kinds of answers that can be checked; each has a matcher in `toolorchestra.reward.match`.

They stand here as well because a file of tasks must be refused before a run starts, and tasks know
nothing of rewards.
"""

from __future__ import annotations

ANSWER_KINDS = (
    "text",
    "number",
    "choice",
    "date",
    "list",
    "set",
    "math",
    "yes_no",
    "reasoning_gym",
)
