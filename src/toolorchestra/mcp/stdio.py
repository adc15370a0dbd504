"""An MCP server as a process of ours: messages are lines on its standard streams, within bounds.

The client of the `mcp` package would read a line of any length, keeps no account of what a server
says before it dies, and leaves it running where we are killed; hence a transport of our own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from toolorchestra.mcp.witness import Witness
from toolorchestra.process import dies_with_parent

GRACE_S = 2.0
"""How long a server may take to end by itself once its input has ended."""
MAX_BANNER_LINES = 50
"""Lines that a server may print before its first message, as some do; none after it."""
_KEEPER = """trap '' TERM USR2
trap 'kill -s KILL 0' ALRM
exec 3<&0
"$@" <&3 3<&- &
exec 3<&- </dev/null >/dev/null 2>&1
wait $!"""
"""Leads the server's process group: deaf to what a cluster sends to all processes of a job, and
told by the kernel when we are gone, it takes the whole group along. It is told by ALRM, as a shell
cannot hear HUP under nohup. It keeps none of the streams, whose ends are news of the server."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@contextlib.asynccontextmanager
async def stdio_transport(
    command: Sequence[str],
    *,
    variables: Mapping[str, str],
    max_message_bytes: int,
    witness: Witness,
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """A running server; it and all it has started are ended with the context.

    Args:
        command: Program and arguments.
        variables: What its environment holds beside PATH, HOME and the like.
        max_message_bytes: A longer line ends the connection.
        witness: Hears what goes wrong.
    """
    process = await asyncio.create_subprocess_exec(
        *dies_with_parent("ALRM"), "sh", "-c", _KEEPER, "sh", *command,
        stdin=PIPE, stdout=PIPE, stderr=PIPE,
        env={**get_default_environment(), **variables},
        limit=max_message_bytes,
        start_new_session=True,
    )  # fmt: skip
    try:
        into, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, out_of = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks, into, incoming, outgoing, out_of:
            tasks.start_soon(_listen, process, witness)
            tasks.start_soon(_read, process, into, max_message_bytes, witness)
            tasks.start_soon(_write, process, out_of, into)
            try:
                yield incoming, outgoing
                with anyio.CancelScope(shield=True):
                    await _let_end(process, patience_s=0.0 if witness.is_lost else GRACE_S)
            finally:
                tasks.cancel_scope.cancel()
    finally:
        await _kill(process)


async def _read(
    process: Process,
    into: MemoryObjectSendStream[SessionMessage | Exception],
    max_message_bytes: int,
    witness: Witness,
) -> None:
    async with into:
        await _read_messages(process, into, max_message_bytes, witness)
    witness.is_lost = True


async def _read_messages(
    process: Process,
    into: MemoryObjectSendStream[SessionMessage | Exception],
    max_message_bytes: int,
    witness: Witness,
) -> None:
    assert process.stdout is not None
    num_banner_lines: int | None = 0
    while True:
        try:
            line = await process.stdout.readline()
        except ValueError:  # asyncio's word for a line beyond the limit
            return witness.see(f"it sent a message of more than {max_message_bytes} bytes")
        if not line:
            return await _see_end(process, witness)
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            if not line.strip():
                continue
            if num_banner_lines is not None and num_banner_lines < MAX_BANNER_LINES:
                num_banner_lines += 1
                continue
            text = witness.excerpt(line.decode("utf-8", "replace"))
            return witness.see(f"it printed what is no message: {text}")
        num_banner_lines = None
        try:
            await into.send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return


async def _see_end(process: Process, witness: Witness) -> None:
    if await _has_ended(process, patience_s=GRACE_S):
        witness.see(f"it ended with exit status {process.returncode}")
    else:
        witness.see("it closed its output")


async def _write(
    process: Process,
    out_of: MemoryObjectReceiveStream[SessionMessage],
    into: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert process.stdin is not None
    try:
        async for item in out_of:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(f"{text}\n".encode())
            await process.stdin.drain()
    except (ConnectionError, RuntimeError):  # RuntimeError: its input is closed already
        await into.aclose()


async def _listen(process: Process, witness: Witness) -> None:
    assert process.stderr is not None
    while data := await process.stderr.read(4096):
        witness.hear(data)


async def _let_end(process: Process, *, patience_s: float) -> None:
    """Ends the server's input, upon which it should go, and waits a while."""
    assert process.stdin is not None
    process.stdin.close()
    await _has_ended(process, patience_s=patience_s)


async def _kill(process: Process) -> None:
    """Kills what is left of the server's process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await _has_ended(process, patience_s=GRACE_S)
    # nothing public closes the pipes that a process outside the group may still hold
    process._transport.close()  # type: ignore[attr-defined]


async def _has_ended(process: Process, *, patience_s: float) -> bool:
    """Polls, as `Process.wait` also waits for pipes, which the server's children may hold."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            while process.returncode is None:
                await asyncio.sleep(0.01)
    return process.returncode is not None
