"""An event loop in a thread of its own: rollouts go on in it while the weights are updated."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

log = logging.getLogger(__name__)

CLOSE_S = 30.0
"""How long what is left may take to end."""
T = TypeVar("T")


class Background:
    """Runs coroutines for callers in other threads.

    All that belongs to one event loop, such as processes, locks and connections, lives here.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="rollouts", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Waits for a coroutine; an interrupt of the caller, as by Ctrl-C, cancels it."""
        future = self.start(coroutine)
        try:
            return future.result()
        except BaseException:  # Ctrl-C too: nobody waits for it any more
            future.cancel()
            raise

    def start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts a coroutine and does not wait."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self, *, patience_s: float = CLOSE_S) -> None:
        """Cancels what is left and ends the thread, which is given up if it hangs."""
        ending = _cancel_others(patience_s)
        with contextlib.suppress(TimeoutError):
            self.start(ending).result(2 * patience_s)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(patience_s)
        if self._thread.is_alive():
            ending.close()
            log.warning("a rollout hangs and was given up: it heeds no cancellation")
        else:
            self._loop.close()


async def _cancel_others(patience_s: float) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=patience_s)
    await asyncio.get_running_loop().shutdown_asyncgens()
