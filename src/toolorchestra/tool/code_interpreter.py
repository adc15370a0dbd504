"""The code interpreter: a tool that runs Python in the sandbox.

Without state, a result depends on the code alone, and the latency is the configured one: rollouts
that run the same program meet the same result, and a training can be repeated.
"""

from __future__ import annotations

import asyncio

from toolorchestra.sandbox.cache import SandboxCache
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.find import find_sandbox
from toolorchestra.sandbox.input_files import InputFile, read_input_files
from toolorchestra.sandbox.result import SandboxError, SandboxResult
from toolorchestra.sandbox.session import SessionPool
from toolorchestra.tool.base import CallContext
from toolorchestra.types import Json, ResultStatus, ToolResult, Usage

PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "code": {
            "type": "string",
            "description": "Python to run: you get what it prints and the value of its last "
            "expression. Without it, the question itself is run.",
        }
    },
    "required": [],
    "additionalProperties": False,
}

_MAX_MESSAGE_CHARS = 200
_MAX_CACHED = 1024
_MAX_SESSIONS = 256


class CodeInterpreter:
    """Runs the code of a call; an answer starts with "answer: ", a failure with "error: "."""

    def __init__(
        self, name: str, *, latency_s: float, compute_s: float, options: SandboxConfig
    ) -> None:
        """Find the sandbox.

        Args:
            name: The tool's name in results.
            latency_s: Nominal service time charged for every call.
            compute_s: Nominal run time billed for every call.
            options: Limits, and whether variables live on from call to call.

        Raises:
            ValueError: If this machine offers no sandbox, with what to do.
        """
        self._name = name
        self._latency_s = latency_s
        self._compute_s = compute_s
        self._options = options
        self._sandbox = find_sandbox(options)
        self._cache = SandboxCache(self._run_in_turn, max_entries=_MAX_CACHED)
        self._sessions = SessionPool(self._sandbox, max_sessions=_MAX_SESSIONS)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = asyncio.Semaphore(options.max_parallel)

    async def call(self, arguments: Json, context: CallContext) -> ToolResult:
        """Run `arguments["code"]`, or the question of the task."""
        code = arguments.get("code", context.episode.task.question)
        try:
            files = await self._files(context)
            if self._options.is_stateful:
                async with self._turn():
                    result = await self._sessions.run(code, files, key=context.session)
            else:
                result = await self._cache.run(code, files)
        except SandboxError as error:
            return self._tool_result(context, f"error: {error}", "provider_error", {})
        status: ResultStatus = "ok" if result.status == "ok" else "policy_error"
        metadata = {"sandbox_status": result.status} | result.files.to_json()
        return self._tool_result(context, _content(result), status, metadata)

    async def close_session(self, session: str) -> None:
        """End a rollout's interpreter, once the rollout is over; nothing to do without state."""
        await self._sessions.close(session)

    async def close(self) -> None:
        """End the interpreters of all rollouts, and those that wait for one."""
        await self._sessions.close_all()
        await self._sandbox.close()

    async def _files(self, context: CallContext) -> tuple[InputFile, ...]:
        """The task's files, where programs get any.

        Raises:
            SandboxError: They are not as they must be: the task's fault, never the policy's.
        """
        told = context.episode.task.metadata.get("files")
        if told is None or not self._options.work_mb:
            return ()
        try:
            return await asyncio.to_thread(read_input_files, told, self._options)
        except ValueError as error:
            raise SandboxError(str(error)) from None

    async def _run_in_turn(self, code: str, files: tuple[InputFile, ...]) -> SandboxResult:
        async with self._turn():
            return await self._sandbox.run(code, files)

    def _turn(self) -> asyncio.Semaphore:
        """The semaphore of the running event loop: a trainer may use one loop a step."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._slots = loop, asyncio.Semaphore(self._options.max_parallel)
        return self._slots

    def _tool_result(
        self, context: CallContext, content: str, status: ResultStatus, metadata: Json
    ) -> ToolResult:
        return ToolResult(
            call_id=context.call_id,
            name=self._name,
            content=content,
            status=status,
            usage=Usage(compute_s=self._compute_s),
            latency_s=self._latency_s,
            metadata=metadata,
        )


def _content(result: SandboxResult) -> str:
    """What the policy reads."""
    if result.status == "ok":
        content = f"answer: {result.stdout.strip() or '(no output)'}"
    else:
        content = f"error: {_short(result.message)}"
    asides = filter(None, (result.note, result.files.line()))
    return "\n".join([content, *(f"({aside})" for aside in asides)])


def _short(message: str) -> str:
    if len(message) <= _MAX_MESSAGE_CHARS:
        return message
    return message[: _MAX_MESSAGE_CHARS - 3] + "..."
