"""The data set card that goes with exported tasks: what there is, and how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from toolorchestra.dataset.split import Split
from toolorchestra.domain.difference import digest
from toolorchestra.domain.domain import Domain
from toolorchestra.domain.task import DomainTask

_CARD = """\
---
license: {spdx}
pretty_name: "{name}"
tags: [tool-use, toolorchestra]
---
# Tasks of the domain {name}

{counts}

{how_to_read}

- Left out: {left_out}.
- Tools: {tools}.
- Records: {records}.
- Digest of the database: sha256 `{digest}`.
- Difficulty: what a task's goals weigh together, from 1; a goal weighs more where it takes a
  search, a sum or a chain of calls.
- How it was made: by `python -m toolorchestra.dataset.export` of ToolOrchestra. Every golden action
  was carried out on the database before it was written down, and none fails. A task is solved where
  the database means the same as after the golden actions, every record that they operated on was
  operated on, and all that has to be communicated was said.
- Held out: one task in five of each difficulty, by a digest of what the user asks for; nothing that
  is evaluated should be trained on.
- Licence: {licence}.
"""
_HOW_TO_READ = {
    "openai": """\
`train.jsonl` and `heldout.jsonl` hold one conversation a line, as OpenAI's fine-tuning takes them:
the domain's rules, what the user asks for, golden calls with what the environment gave, and a
closing message that says what has to be said; `tools` are the domain's functions.""",
    "tau2": """\
`tasks.json` holds all tasks in the form of tau2-bench and ToolScale; `split_tasks.json` names those
of each split. The functions and the database that they work on are not part of this form.""",
}


def card(
    domain: Domain, splits: Mapping[Split, Sequence[DomainTask]], *, form: str, licence: str
) -> str:
    """The README.md of an export.

    Args:
        domain: Where the tasks belong.
        splits: The tasks that were written.
        form: How.
        licence: Of all of it, by its SPDX name.
    """
    num_left_out = len(domain.tasks) - sum(map(len, splits.values()))
    sizes = {name: len(found) for name, found in domain.database.records.items()}
    listed = ", ".join(f"{size} {name}" for name, size in sizes.items())
    return _CARD.format(
        spdx=licence.lower(),
        name=domain.name,
        counts=_counts(splits),
        how_to_read=_HOW_TO_READ[form],
        left_out=f"{num_left_out} tasks in which the user has functions to call, for which this "
        "form has no place"
        if num_left_out
        else "nothing",
        tools=f"{len(domain.functions)} ({', '.join(domain.functions)})",
        records=f"{sum(sizes.values())} ({listed})",
        digest=digest(domain.database),
        licence=licence,
    )


def _counts(splits: Mapping[Split, Sequence[DomainTask]]) -> str:
    """A table of tasks by split and difficulty."""
    levels = sorted({task.difficulty for tasks in splits.values() for task in tasks})
    lines = [["split", "tasks", *(f"difficulty {level}" for level in levels)]]
    lines.append(["---"] * len(lines[0]))
    for split, tasks in splits.items():
        counts = Counter(task.difficulty for task in tasks)
        lines.append([split, str(len(tasks)), *(str(counts[level]) for level in levels)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
