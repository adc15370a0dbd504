"""A stand-in for an inference server: a process of its own that samples nothing, and only waits.

Two cores cannot train and sample at once without slowing both, so neither is computed where their
overlap is measured. The stand-in takes the time of a server with continuous batching: a decode step
serves all rows at once, rows join and leave between steps, and a step takes longer the more there
are; half the time of a step of `FULL` rows is due from the first row on.

It reads lines of JSON, [request, tokens] each; 0 tokens withdraw a request. It writes lines of
JSON: the requests that are done.
"""

from __future__ import annotations

import json
import sys
import time
from queue import Empty, SimpleQueue
from threading import Thread

FULL = 64
"""Rows with which a decode step takes `step_s`."""


def listen(arrived: SimpleQueue[list[int] | None]) -> None:
    """Passes on what is asked, and None when nothing more can be."""
    for line in sys.stdin:
        arrived.put(json.loads(line))
    arrived.put(None)


def serve(step_s: float) -> None:
    """Serves until the input ends."""
    arrived: SimpleQueue[list[int] | None] = SimpleQueue()
    Thread(target=listen, args=(arrived,), daemon=True).start()
    left: dict[int, int] = {}
    """Tokens that each request still needs."""
    while True:
        is_idle = not left
        while True:
            try:
                asked = arrived.get(block=is_idle)
            except Empty:
                break
            if asked is None:
                return
            is_idle = False
            request, num_tokens = asked
            if num_tokens:
                left[request] = num_tokens
            else:
                left.pop(request, None)
        time.sleep(step_s * (0.5 + 0.5 * len(left) / FULL))
        left = {request: num - 1 for request, num in left.items()}
        done = [request for request, num in left.items() if num == 0]
        for request in done:
            del left[request]
        if done:
            print(json.dumps(done), flush=True)


if __name__ == "__main__":
    serve(float(sys.argv[1]))
