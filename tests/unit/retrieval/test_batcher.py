import asyncio
import threading

import pytest
from tests.unit.retrieval.scene import built, documents, until

from toolorchestra.retrieval.batcher import Batcher
from toolorchestra.retrieval.fault import Overloaded
from toolorchestra.retrieval.index import open_index
from toolorchestra.retrieval.record import Query


class Gate:
    """An index whose searches wait until they may go on; the answers are the real ones."""

    def __init__(self, index):
        self._index, self.sizes, self.threads = index, [], set()
        self.begun, self.may_go = threading.Semaphore(0), threading.Semaphore(0)

    def search(self, queries):
        self.sizes.append(len(queries))
        self.threads.add(threading.get_ident())
        self.begun.release()
        assert self.may_go.acquire(timeout=60)
        return self._index.search(queries)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_index(built(tmp_path_factory.mktemp("batcher") / "index", documents(20)))


def query(i, **changes):
    return Query(text=f"mayor of Town{i}", top_k=1, **changes)


async def test_what_comes_while_a_batch_runs_is_searched_at_once_in_one_thread(index):
    gate = Gate(index)
    batcher = Batcher(gate, max_batch=8, max_wait_s=0.0)
    tasks = [asyncio.create_task(batcher.search([query(3)]))]
    await until(lambda: gate.sizes)
    tasks += [asyncio.create_task(batcher.search([query(i)])) for i in range(4, 15)]
    await asyncio.sleep(0)
    for _ in range(3):
        gate.may_go.release()
    found = await asyncio.gather(*tasks)
    assert gate.sizes == [1, 8, 3]
    assert len(gate.threads) == 1 and threading.get_ident() not in gate.threads
    assert [hits[0][0].id for hits in found] == [f"d{i}" for i in range(3, 15)]
    await batcher.close()


async def test_a_first_query_waits_for_company_but_not_once_the_batch_is_full(index):
    batcher = Batcher(index, max_batch=4, max_wait_s=600.0)
    found = await asyncio.wait_for(
        asyncio.gather(*(batcher.search([query(i)]) for i in range(3, 7))), 60
    )
    assert [hits[0][0].id for hits in found] == ["d3", "d4", "d5", "d6"]
    assert batcher.num_batches == 1
    await batcher.close()


async def test_more_than_may_wait_are_turned_away_and_the_others_answered(index):
    gate = Gate(index)
    batcher = Batcher(gate, max_batch=1, max_wait_s=0.0, max_pending=2)
    first = asyncio.create_task(batcher.search([query(3)]))
    await until(lambda: gate.sizes)
    second = asyncio.create_task(batcher.search([query(4), query(5)]))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded, match="2 queries wait already"):
        await batcher.search([query(6)])
    for _ in range(3):
        gate.may_go.release()
    assert len((await first) + (await second)) == 3
    await batcher.close()


async def test_who_gives_up_while_waiting_costs_no_search(index):
    gate = Gate(index)
    batcher = Batcher(gate, max_batch=1, max_wait_s=0.0)
    first = asyncio.create_task(batcher.search([query(3)]))
    await until(lambda: gate.sizes)
    given_up = asyncio.create_task(batcher.search([query(4)]))
    await asyncio.sleep(0)
    given_up.cancel()
    gate.may_go.release()
    assert (await first)[0][0].id == "d3"
    await batcher.close()
    assert gate.sizes == [1]


async def test_a_fault_of_the_index_reaches_all_who_wait_and_the_next_search_goes_on(index):
    class Broken:
        def search(self, queries):
            raise RuntimeError("out of memory")

    batcher = Batcher(Broken(), max_batch=2, max_wait_s=60.0)
    found = await asyncio.gather(
        batcher.search([query(3)]), batcher.search([query(4)]), return_exceptions=True
    )
    assert [str(each) for each in found] == ["out of memory"] * 2
    batcher.index = index
    assert [hits[0].id for hits in await batcher.search([query(3), query(4)])] == ["d3", "d4"]
    await batcher.close()


def test_one_batcher_serves_one_event_loop_after_another(index):
    batcher = Batcher(index)
    for i in (3, 4):
        assert asyncio.run(batcher.search([query(i)]))[0][0].id == f"d{i}"
    asyncio.run(batcher.close())
