"""What a synthesised domain is, for whoever finds its folder: its card."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping

from toolorchestra.synthesis.domain import (
    entries,
    functions,
    intents,
    outline,
    schema,
    solving,
    subjects,
    tasks,
    validation,
)
from toolorchestra.synthesis.domain.pipeline import Made
from toolorchestra.synthesis.domain.workshop import Workshop

PROMPTS: Mapping[str, str] = {
    subjects.STAGE: subjects.SYSTEM,
    schema.STAGE: schema.SYSTEM,
    entries.STAGE: entries.SYSTEM,
    validation.STAGE: validation.SYSTEM,
    outline.STAGE: outline.SYSTEM,
    functions.STAGE: functions.SYSTEM,
    intents.STAGE: intents.SYSTEM,
    tasks.STAGE: tasks.SYSTEM,
    tasks.EVOLUTION: tasks.EVOLVING,
    solving.STAGE: solving.SYSTEM,
}
"""The instruction of each stage that asks a model."""


def card(shop: Workshop, made: Made, table: str) -> str:
    """The text of `README.md`; `table` says how much there is and what was rejected."""
    of_task = Counter(task.difficulty for task in made.tasks)
    return f"""---
license:  # yours to choose; the terms of the models' providers may bear on it
---
# {shop.name}

{" ".join(made.about.about.split())}

A synthetic domain in the form of ToolScale: `schema.json` and `database.jsonl` (what the records
look like, and the records), `policy.md` (the rules that an assistant keeps to), `functions.py`
(what it can call) and `tasks.jsonl` (goals with golden actions and what the user has to be told;
{", ".join(f"{count} of difficulty {level}" for level, count in sorted(of_task.items()))}).

## How it was made

By `python synthesize.py domain={shop.name}`, stage after stage: subjects, schema, records,
validation, functions, intents, tasks, harder tasks, and which of them can be solved.

- Writer: {shop.writer.config.model}
- Validator of records: {shop.validator.config.model}
- Solver: {shop.solver.model}, up to {shop.solver.attempts} attempts at a task

Digests (SHA-256, first 16 digits) of what the model of each stage is told to do:

{_digests()}

## How much there is

{table.strip()}

## Limits

- Models wrote all of it, and no person has read it. Names and figures are invented.
- **`functions.py` is a model's code: run it in a sandbox alone**, as `load_untrusted` does.
- Every task was solved at least once by the solver, so none is harder than what it can do.
- Golden actions run without an error, but whether they are the one right way within the rules was
  checked no further. Nested records and functions of the user are not made.
"""


def _digests() -> str:
    return "\n".join(
        f"- {stage}: `{hashlib.sha256(text.strip().encode()).hexdigest()[:16]}`"
        for stage, text in PROMPTS.items()
    )
