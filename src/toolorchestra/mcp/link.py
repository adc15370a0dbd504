"""One open session with an MCP server, and the task that owns it.

The cancel scopes of the `mcp` client must be left by the task that entered them, whoever calls, so
that each link has a task of its own which opens, waits, and closes.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from typing import Any

from mcp import Client

from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.mcp.http import http_transport
from toolorchestra.mcp.stdio import stdio_transport
from toolorchestra.mcp.witness import Witness
from toolorchestra.provider.fault import FaultKind, ProviderFault

CLOSE_S = 10.0
"""How long a link may take to close before it is cancelled."""
_STATUS_KINDS: dict[int, FaultKind] = {
    401: "auth", 402: "quota", 403: "auth", 404: "not_found", 429: "rate_limit",
}  # fmt: skip
# they quote what a server said, secrets not hidden; what matters of it is in our faults
for _name in ("mcp", "client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)
logging.getLogger("httpx2").setLevel(logging.WARNING)


class Link:
    """A session that is being opened, open, or closed for good."""

    def __init__(self, server: str, config: McpServerConfig) -> None:
        """Starts to open it; needs a running event loop."""
        self._server, self._config = server, config
        self.witness = Witness(os.environ.get(name, "") for name in config.variables)
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._to_close = asyncio.Event()
        self._num_users = 0
        self._is_retired = False
        self._owner = asyncio.create_task(self._own(), name=f"mcp {server}")

    @property
    def is_usable(self) -> bool:
        """Whether new calls may be put to it."""
        return not self._is_retired and not self.witness.is_lost

    @property
    def is_closed(self) -> bool:
        """Whether nothing of it is left."""
        return self._owner.done()

    async def client(self) -> Client:
        """The open session.

        Raises:
            ProviderFault: The server does not start, or cannot be spoken to.
        """
        # shielded, as others wait for it too
        return await asyncio.shield(self._opened)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keeps a retired link open until the block ends."""
        self._num_users += 1
        try:
            yield
        finally:
            self._num_users -= 1
            self._close_if_unused()

    def retire(self) -> None:
        """Closes it once the calls that are under way have ended: one fault is not all theirs."""
        self._is_retired = True
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._is_retired and not self._num_users:
            self._to_close.set()

    async def close(self) -> None:
        """Closes it at once and waits until nothing of it is left."""
        self._is_retired = True
        self._to_close.set()
        _, late = await asyncio.wait([self._owner], timeout=CLOSE_S)
        for task in late:
            task.cancel()
            await asyncio.wait([task], timeout=CLOSE_S)

    async def _own(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._config.start_timeout_s) as deadline:
                    client = Client(self._transport(), cache=None)
                    self._opened.set_result(await stack.enter_async_context(client))
                await self._to_close.wait()
        except TimeoutError as error:
            late = f"it was not ready within {self._config.start_timeout_s:g} s"
            self.witness.see(late if deadline.expired() else self.witness.excerpt(str(error)))
        except Exception as error:  # whatever a library raises for a server that misbehaves
            if self.witness.http_status is None:  # which says more
                self.witness.see(_reason(error, self.witness))
        finally:
            self._is_retired = True
            if not self._opened.done():
                self._opened.set_exception(self.fault("cannot be used", kind="broken"))
                self._opened.exception()  # perhaps nobody waits for it any more

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        config = self._config
        if config.command:
            return stdio_transport(
                [config.command, *config.args],
                variables={name: os.environ[name] for name in config.env},
                max_message_bytes=config.max_message_bytes,
                witness=self.witness,
            )
        return http_transport(
            config.url,
            token=os.environ[config.key_env] if config.key_env else "",
            call_timeout_s=config.call_timeout_s,
            max_message_bytes=config.max_message_bytes,
            witness=self.witness,
        )

    async def ended(self, *, patience_s: float) -> None:
        """Waits a while for the owner, who knows best why a session broke."""
        await asyncio.wait([self._owner], timeout=patience_s)

    def fault(self, what: str, *, kind: FaultKind) -> ProviderFault:
        """The fault `what` of this server, with all that was noticed of it."""
        status = self.witness.http_status
        was_open = self._opened.done() and self._opened.exception() is None
        if status == 404 and was_open:  # its session is gone, as after a restart
            self.witness.see("it has forgotten the session")
        elif status is not None:
            self.witness.see(f"it answered with HTTP status {status}")
            kind = _STATUS_KINDS.get(status, "server" if status >= 500 else kind)
        message = f"the MCP server {self._server} {what}"
        said = self.witness.said()
        return ProviderFault(f"{message}: {said}" if said else message, kind=kind)


def _reason(error: BaseException, witness: Witness) -> str:
    """The first of the faults that were raised together, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return witness.excerpt(f"{type(error).__name__}: {error}".rstrip(": "))
