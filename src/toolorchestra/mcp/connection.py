"""Calls to one MCP server over a session that is opened when needed, and anew where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from mcp import Client, MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolResult,
    Tool,
)
from pydantic import ValidationError
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

from toolorchestra.mcp.config import McpServerConfig
from toolorchestra.mcp.link import Link
from toolorchestra.provider.fault import FaultKind, ProviderFault
from toolorchestra.types import Json

MAX_PAGES = 100
"""Pages of a list of tools: one without end is a fault."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 5.0
_LOST: dict[int, FaultKind] = {
    CONNECTION_CLOSED: "broken",
    REQUEST_TIMEOUT: "timeout",
    PARSE_ERROR: "broken",
}
"""Codes that the client itself gives to what became of a session; others are a server's answers."""
_WORDS: dict[FaultKind, str] = {"broken": "broke off", "timeout": "gave no answer in time"}
T = TypeVar("T")


class CallRefused(Exception):
    """The server does not take a call's arguments; the message is its own, secrets hidden."""


class Connection:
    """One server for one event loop: one session, shared by all calls."""

    def __init__(self, server: str, config: McpServerConfig) -> None:
        self._server, self._config = server, config
        self._link: Link | None = None
        self._retired: list[Link] = []

    async def call(self, tool: str, arguments: Json) -> CallToolResult:
        """Calls a tool, again where the server failed and that may help.

        Args:
            tool: The server's name for it.
            arguments: As its schema has them.

        Raises:
            CallRefused: The server answered that the arguments are wrong.
            ProviderFault: It failed, however often it was tried.
        """

        async def ask(client: Client) -> CallToolResult:
            return await client.call_tool(
                tool, arguments, read_timeout_seconds=self._config.call_timeout_s
            )

        return await self._try(ask)

    async def tools(self) -> list[Tool]:
        """All tools that the server has.

        Raises:
            ProviderFault: It failed, however often it was tried.
        """

        async def ask(client: Client) -> list[Tool]:
            return await _all_tools(client)

        return await self._try(ask)

    def hide(self, text: str) -> str:
        """`text` without the secrets that the server was given."""
        return text if self._link is None else self._link.witness.hide(text)

    async def close(self) -> None:
        """Ends the session and the server's process."""
        links = [*self._retired, *([self._link] if self._link else [])]
        self._link, self._retired = None, []
        await asyncio.gather(*(link.close() for link in links))

    async def _try(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(self._config.max_attempts),
            wait=wait_exponential(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S),
            retry=retry_if_exception(lambda e: isinstance(e, ProviderFault) and e.is_retryable),
            reraise=True,
        ):
            with attempt:
                return await self._ask_once(ask)
        raise AssertionError("the last attempt returns or raises")

    async def _ask_once(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        link = self._open_link()
        try:
            with link.in_use():
                return await ask(await link.client())
        except MCPError as error:
            raise await self._judged(link, error) from None
        except (ValidationError, RuntimeError) as error:  # a result against the server's own schema
            said = link.witness.excerpt(str(error))
            raise ProviderFault(
                f"the MCP server {self._server} answered what cannot be read: {said}", kind="broken"
            ) from None

    def _open_link(self) -> Link:
        if self._link is None or not self._link.is_usable:
            self._retired = [link for link in self._retired if not link.is_closed]
            if self._link is not None:
                self._link.retire()
                self._retired.append(self._link)
            self._link = Link(self._server, self._config)
        return self._link

    async def _judged(self, link: Link, error: MCPError) -> Exception:
        """Whose fault an error is; the link is given up where it is of no more use."""
        said = link.witness.excerpt(error.message)
        if error.code == INVALID_PARAMS:
            return CallRefused(said)
        if error.code in _LOST or self._config.url:
            link.retire()
        kind = _LOST.get(error.code)
        if kind is None:
            return link.fault(f"answered with an error ({error.code}: {said})", kind="server")
        if kind == "broken":
            if error.message != "Connection closed":
                link.witness.see(said)
            await link.ended(patience_s=1.0)
        return link.fault(_WORDS[kind], kind=kind)


async def _all_tools(client: Client) -> list[Tool]:
    tools: list[Tool] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            return tools
    raise RuntimeError(f"a list of tools of more than {MAX_PAGES} pages")


class _Shared:
    def __init__(self, connection: Connection) -> None:
        self.connection, self.holders = connection, set[object]()


_SHARED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Shared]] = WeakKeyDictionary()


def share(server: str, config: McpServerConfig, *, holder: object) -> Connection:
    """The connection that all tools of a server have in common in the running event loop."""
    here = _SHARED.setdefault(asyncio.get_running_loop(), {})
    key = f"{server} {config!r}"
    if key not in here:
        here[key] = _Shared(Connection(server, config))
    here[key].holders.add(holder)
    return here[key].connection


async def release(connection: Connection, *, holder: object) -> None:
    """Says that `holder` is done with a connection; the last one closes it."""
    here = _SHARED.get(asyncio.get_running_loop(), {})
    for key, shared in list(here.items()):
        if shared.connection is connection:
            shared.holders.discard(holder)
            if not shared.holders:
                del here[key]
                await connection.close()
