"""Tables of an evaluation that was broken off, from the trials that it kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolorchestra.benchmark.evaluate import Result
from toolorchestra.report.evaluation import START, TRAINED, Evaluation, breakdown_table, main_table


def partial_tables(results: Sequence[Result], *, is_simulated: bool) -> list[Any]:
    """As results.json would have them, over what there is."""
    policies = {result.policy for result in results}
    evaluation = Evaluation(
        results=tuple(results),
        is_simulated=is_simulated,
        subject=TRAINED if TRAINED in policies else results[0].policy,
        start=START if START in policies else None,
    )
    tables = [
        table
        for world in evaluation.worlds
        for table in (
            main_table(evaluation, world),
            breakdown_table(evaluation, world, "skill"),
            breakdown_table(evaluation, world, "preference"),
        )
    ]
    return [json.loads(table.to_json()) for table in tables]
