"""The event loop in its own thread: what comes back, and what is cancelled when."""

import asyncio
import signal
import threading
import time

import pytest

from toolorchestra.rollout.background import Background


@pytest.fixture
def background():
    background = Background()
    yield background
    if background._thread.is_alive() and not background._loop.is_closed():
        background.close(patience_s=5.0)


class Endless:
    """A coroutine that waits until it is cancelled."""

    def __init__(self):
        self.has_started, self.is_cancelled = threading.Event(), threading.Event()

    async def __call__(self):
        self.has_started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # what it ends with takes the loop once more
            self.is_cancelled.set()
            raise


def test_a_result_comes_back_from_another_thread(background):
    async def where(value):
        await asyncio.sleep(0)
        return value, threading.current_thread()

    value, thread = background.run(where("done"))
    assert value == "done"
    assert thread is not threading.current_thread()
    assert background.run(where(2))[1] is thread, "one loop for all"


def test_what_a_coroutine_raises_comes_back_as_itself_and_the_loop_goes_on(background):
    error = KeyError("bug")

    async def fail():
        raise error

    async def succeed():
        return 1

    with pytest.raises(KeyError) as raised:
        background.run(fail())
    assert raised.value is error
    assert background.run(succeed()) == 1


def test_what_was_started_goes_on_while_the_caller_does_other_things(background):
    steps = []

    async def work():
        for step in range(3):
            steps.append(step)
            await asyncio.sleep(0)
        return "done"

    future = background.start(work())
    assert future.result(timeout=5.0) == "done"
    assert steps == [0, 1, 2]


def test_an_interrupt_of_the_caller_cancels_what_it_waits_for_and_nothing_else(background):
    waited, other = Endless(), Endless()
    future = background.start(other())

    def interrupt():
        waited.has_started.wait(5.0)
        time.sleep(0.05)  # until the caller waits
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        background.run(waited())
    assert waited.is_cancelled.wait(5.0)
    assert not future.done()


def test_closing_cancels_what_is_left_waits_for_its_end_and_ends_the_thread(background):
    left = [Endless(), Endless()]
    futures = [background.start(one()) for one in left]
    for one in left:
        assert one.has_started.wait(5.0)
    background.close()
    assert all(one.is_cancelled.is_set() for one in left)
    assert all(future.cancelled() for future in futures)
    assert not background._thread.is_alive()


def test_closing_ends_though_what_is_left_fails_when_it_is_cancelled(background):
    started = threading.Event()

    async def stubborn():
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("while it ended")

    background.start(stubborn())
    assert started.wait(5.0)
    background.close()
    assert not background._thread.is_alive()


def test_closing_gives_up_what_heeds_no_cancellation(background, caplog):
    started, freed = threading.Event(), threading.Event()

    async def deaf():
        started.set()
        while not freed.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    background.start(deaf())
    assert started.wait(5.0)
    begun = time.monotonic()
    background.close(patience_s=0.1)
    assert time.monotonic() - begun < 5.0
    freed.set()


def test_closing_gives_up_a_thread_that_never_comes_back(background, caplog):
    started, freed = threading.Event(), threading.Event()

    async def blocking():
        started.set()
        freed.wait(20.0)

    background.start(blocking())
    assert started.wait(5.0)
    background.close(patience_s=0.1)
    assert "a rollout hangs and was given up" in caplog.text
    freed.set()
