"""The calls of `benchmarks/sandbox`: both sides do the same work, and a wrong result is noticed."""

from __future__ import annotations

import pytest
from benchmarks.sandbox.calls import Load, measure, open_side

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("warm_workers", [0, 2])
async def test_each_side_answers_as_many_callers_as_asked_for(warm_workers: int) -> None:
    side = open_side(warm_workers=warm_workers)
    codes: list[str] = []
    run = side.run

    async def counted(code: str):
        codes.append(code)
        return await run(code)

    side.run = counted
    calls = await measure(side, Load(num_concurrent=3), duration_s=0.01)
    await side.close()
    assert codes == [
        f"sum(range({n}))" for n in range(6)
    ]  # Each caller once before and once after.
    assert calls.per_second > 0
    assert calls.wait_s > 0


async def test_a_wrong_result_ends_the_measurement() -> None:
    side = open_side(warm_workers=0)
    run = side.run
    side.run = lambda code: run("print('wrong')")
    with pytest.raises(RuntimeError, match="call 0 gave"):
        await measure(side, Load(num_concurrent=1), duration_s=0.01)
