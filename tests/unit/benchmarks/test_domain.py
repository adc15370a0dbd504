"""The calls of `benchmarks/domain`: both sides do the same work, and a difference is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.domain.calls import calls_per_second, open_sides

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module", params=["library", "clinic"])
def sides(request, tmp_path_factory):
    return open_sides(request.param, tmp_path_factory.mktemp("copy") / request.param)


def test_both_sides_have_the_same_functions_and_leave_the_same_database(sides):
    assert list(sides.untrusted.functions) == list(sides.trusted.functions)
    assert sides.untrusted.origin is not None and sides.trusted.origin is None
    ids = list(sides.trusted.tasks)[-2:]
    assert calls_per_second(sides, sides.untrusted, ids) > 0
    assert calls_per_second(sides, sides.trusted, ids) > 0


def test_another_database_ends_the_measurement(sides):
    task_id = next(iter(sides.trusted.tasks))
    database = sides.untrusted.database.fresh()
    name = next(name for name, keys in database.records.items() if len(keys) > 20)
    key, record = next(iter(database.records[name].items()))
    database.take_over({(name, f"{key}0"): record})
    with pytest.raises(RuntimeError, match=f"task {task_id} leaves another database"):
        calls_per_second(sides, replace(sides.untrusted, database=database), [task_id])
