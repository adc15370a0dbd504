r"""Keeps one server up, and on the list that tools read.

    python -m toolorchestra.endpoint.keeper --service Qwen/Qwen3-32B --registry DIR -- \
        vllm serve Qwen/Qwen3-32B --host {host} --port {port}

It beats while the server answers, starts it anew when it dies, and ends it when it is asked to end
itself: SIGTERM, SIGINT or SIGUSR2, with exit status 0. The server does not outlive it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp

from toolorchestra.endpoint.keeper_options import KeeperOptions, parse
from toolorchestra.endpoint.process import ServerProcess
from toolorchestra.endpoint.registry import Endpoint, Registry
from toolorchestra.process import STOP_SIGNALS, free_port

log = logging.getLogger(__name__)

LIFETIME_BEATS = 2.5
"""How late a beat may be. With the age of a reader's list, a death is noticed within three."""
STEADY_S = 300.0
"""A server that answered for this long failed anew, not again."""
MAX_PAUSE_S = 60.0
POLL_S = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class _End:
    """How one start of the server ended."""

    reason: str
    answered_s: float
    """Since its first answer."""


class Keeper:
    """One server under supervision, over all its starts."""

    def __init__(self, options: KeeperOptions, stop: asyncio.Event) -> None:
        """Starts nothing yet; ends when `stop` is set."""
        self._options, self._stop = options, stop
        self._registry = Registry(options.registry)

    async def keep(self) -> None:
        """Keeps the server up until it is told to stop.

        Raises:
            ValueError: The server failed too often in a row; the message says how it last did.
            OSError: The registry cannot be written to.
        """
        options, num_vain = self._options, 0
        self._registry.sweep()
        while not self._stop.is_set():
            end = await self._serve()
            if self._stop.is_set():
                return
            num_vain = 1 if end.answered_s >= STEADY_S else num_vain + 1
            if num_vain > options.max_restarts:
                raise ValueError(
                    f"the server of {options.service} failed {num_vain} times in a row; it last "
                    f"{end.reason}, and its own output above says why"
                )
            pause_s = min(MAX_PAUSE_S, options.beat_s * 2 ** (num_vain - 1))
            log.warning("%s: %s; anew in %g s", options.service, end.reason, pause_s)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause_s)

    async def _serve(self) -> _End:
        """One start of the server, to its end."""
        options, port = self._options, self._options.port or free_port()
        endpoint = self._registry.announce(
            options.service,
            url=f"http://{options.public_host}:{port}",
            lifetime_s=LIFETIME_BEATS * options.beat_s,
            is_ready=False,
            host=options.public_host,
            job_id=options.job_id or os.environ.get("SLURM_JOB_ID", ""),
        )
        server = None
        try:
            server = ServerProcess(options.command_at(port), end_s=options.end_s)
            log.info("%s: starting at %s", options.service, endpoint.url)
            return await self._watch(server, endpoint, port)
        finally:
            self._withdraw(endpoint)  # first, so that nobody calls what is about to end
            if server is not None:
                server.end()

    async def _watch(self, server: ServerProcess, endpoint: Endpoint, port: int) -> _End:
        """Beats for a server until it dies, or falls silent, or is to stop."""
        options = self._options
        heard_at, ready_at = time.monotonic(), None
        url = f"http://{options.own_host}:{port}{options.health}"
        reason = "was asked to end"
        while not self._stop.is_set():
            begun = time.monotonic()
            if await _is_healthy(url, timeout_s=options.beat_s):
                heard_at = time.monotonic()
            if not server.is_running():
                reason = server.how_it_ended()
                break
            if ready_at is None and heard_at > begun:
                ready_at = heard_at
                log.info("%s: ready at %s", options.service, endpoint.url)
            silent_s = time.monotonic() - heard_at
            if silent_s > options.patience_s:
                reason = f"gave no answer at {options.health} for {options.patience_s:g} s"
                break
            if ready_at is None or silent_s <= options.stall_s:
                endpoint = self._beat(endpoint, is_ready=ready_at is not None)
            await self._pause(server, until=begun + options.beat_s)
        return _End(reason=reason, answered_s=heard_at - (ready_at or heard_at))

    async def _pause(self, server: ServerProcess, *, until: float) -> None:
        """Waits for the next beat, or for the end."""
        while time.monotonic() < until and server.is_running() and not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), POLL_S)

    def _beat(self, endpoint: Endpoint, *, is_ready: bool) -> Endpoint:
        try:
            return self._registry.beat(endpoint, is_ready=is_ready)
        except OSError as error:  # a full disk is no reason to end a server
            log.warning("%s: cannot beat: %s", self._options.service, error)
            return endpoint

    def _withdraw(self, endpoint: Endpoint) -> None:
        try:
            self._registry.withdraw(endpoint)
        except OSError as error:  # then it expires
            log.warning("%s: cannot withdraw: %s", self._options.service, error)


async def _is_healthy(url: str, *, timeout_s: float) -> bool:
    limit = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with aiohttp.ClientSession(timeout=limit) as http, http.get(url) as answer:
            return answer.status == 200
    except (aiohttp.ClientError, TimeoutError, ConnectionError):
        return False


async def _keep_until_signalled(options: KeeperOptions) -> None:
    stop = asyncio.Event()
    for number in (*STOP_SIGNALS, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    # whoever started this may have shielded it, and so would the server be
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    await Keeper(options, stop).keep()


def main(arguments: Sequence[str]) -> int:
    """Keeps a server until a signal asks for its end; returns the exit status."""
    options = parse(arguments, description=str(__doc__))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s keeper: %(message)s")
    try:
        asyncio.run(_keep_until_signalled(options))
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
