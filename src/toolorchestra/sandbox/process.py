"""One interpreter process in the sandbox: start it, give it code, end all that it started."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import tempfile
from asyncio.subprocess import Process
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace

from toolorchestra.sandbox.apptainer import namespace_init
from toolorchestra.sandbox.command import environment, request, run_command
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.launch import WORK_FOLDER, Launch
from toolorchestra.sandbox.missing import missing_module
from toolorchestra.sandbox.pipe import CappedPipe, LinePipe, RequestPipe
from toolorchestra.sandbox.result import SandboxError, SandboxResult, judge
from toolorchestra.sandbox.seccomp import filter_file
from toolorchestra.sandbox.user_limit import process_limit
from toolorchestra.sandbox.work_folder import WorkFolder

_START_LIMIT_S = 60.0
_END_LIMIT_S = 10.0


class SandboxProcess:
    """An interpreter of its own, alive from `start` to `close`."""

    def __init__(self, launch: Launch, config: SandboxConfig) -> None:
        """Open the pipes; needs a running event loop."""
        self._launch = launch
        self._config = config
        self._requests = RequestPipe()
        self._stdout = CappedPipe(max_bytes=config.max_output_bytes)
        self._stderr = CappedPipe(max_bytes=config.max_output_bytes)
        self._status = LinePipe()
        self._info = LinePipe()
        self._process: Process | None = None
        self._exit: asyncio.Task[int] | None = None
        self._init_pid = 0
        self._init_pidfd = -1
        """The first process of the sandbox's process namespace: with it, all others end."""
        self._work: WorkFolder | None = None
        self._own_folder = ""
        """Folder of the host in which a plain process starts."""
        self.has_begun = False
        """Whether it has taken any code: where not, that code can safely go to another."""

    @property
    def is_alive(self) -> bool:
        """Whether it can take code."""
        return self._exit is not None and not self._exit.done()

    async def start(self) -> None:
        """Start the interpreter and wait until it is confined and ready.

        Raises:
            SandboxError: If it does not come up.
        """
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                await _to_its_end(self._spawn())
                if self._launch.is_bubblewrap:
                    await self._learn_first_process()
                line = await self._next_line(self._status)
            if line == "ready":
                self._reach_inside()
        except (OSError, TimeoutError) as error:
            raise SandboxError(f"the sandbox does not start: {error or 'no answer'}") from None
        if line != "ready":
            self._stderr.drain()
            reason = self._stderr.take()[0].decode("utf-8", "replace").strip()[-300:]
            raise SandboxError(f"the sandbox does not start: {reason or 'it ended at once'}")

    async def run(
        self, code: str, files: tuple[InputFile, ...] = (), *, is_last: bool
    ) -> SandboxResult:
        """Run code, once the process has started.

        Args:
            code: Python source.
            files: What to put into the working folder first, unless earlier code has run.
            is_last: Whether to wait for the interpreter's own end, and so for threads of the code.

        Raises:
            SandboxError: If the files cannot be put there, or processes cannot be ended.
        """
        if self._work and not self.has_begun:
            await asyncio.to_thread(self._work.place, files)
        result = await self._run(code, is_last=is_last)
        note = missing_module(result.message, self._config, self._launch.python)
        written = await asyncio.to_thread(self._work.written) if self._work else result.files
        return replace(result, note=note, files=written)

    async def _run(self, code: str, *, is_last: bool) -> SandboxResult:
        assert self._exit, "start comes first"
        payload = request(
            code.encode("utf-8", "surrogatepass"),
            process_limit=process_limit(self._launch, self._config),
            owns_namespace=self._init_pidfd >= 0,
        )
        line, has_timed_out = None, False
        try:
            async with asyncio.timeout(self._config.timeout_s):
                await self._requests.send(payload)
                if is_last:
                    self._requests.close()
                line = await self._next_line(self._status)
                if line == "begun":
                    self.has_begun = True
                    line = None
                    line = await self._next_line(self._status)
                if is_last:
                    await asyncio.shield(self._exit)
        except TimeoutError:
            has_timed_out = True
        exit_code = self._exit.result() if self._exit.done() else None
        if is_last or line is None:
            await self._end()
        self._stdout.drain()
        self._stderr.drain()
        return judge(
            line,
            exit_code=exit_code,
            has_timed_out=has_timed_out,
            stdout=self._stdout.take(),
            stderr=self._stderr.take(),
            config=self._config,
        )

    async def close(self) -> None:
        """End the interpreter and every process that it started."""
        try:
            await self._end()
        finally:
            self._requests.close()
            for pipe in (self._stdout, self._stderr, self._status, self._info):
                pipe.close()
            if self._init_pidfd >= 0:
                os.close(self._init_pidfd)
                self._init_pidfd = -1
            if self._work:
                self._work.close()
            if self._own_folder:
                shutil.rmtree(self._own_folder, ignore_errors=True)

    async def _spawn(self) -> None:
        with filter_file() as filter_fd:
            passed = {"status_fd": self._status.write_fd}
            if self._launch.is_bubblewrap:
                passed["info_fd"] = self._info.write_fd
                if filter_fd is not None:
                    passed["seccomp_fd"] = filter_fd
            self._process = await asyncio.create_subprocess_exec(
                *run_command(self._launch, self._config, **passed),
                stdin=self._requests.read_fd,
                stdout=self._stdout.write_fd,
                stderr=self._stderr.write_fd,
                pass_fds=tuple(passed.values()),
                env=environment(self._launch),
                cwd=self._folder(),
                start_new_session=True,  # Ctrl-C is for the training, which then ends this.
            )
        self._exit = asyncio.create_task(self._process.wait())
        self._requests.close_read_end()
        for pipe in (self._stdout, self._stderr, self._status, self._info):
            pipe.close_write_end()

    def _folder(self) -> str:
        if self._launch.isolation != "none":
            return "/"
        if self._config.work_mb:
            self._own_folder = tempfile.mkdtemp(prefix="work-")
        return self._own_folder or tempfile.gettempdir()

    async def _learn_first_process(self) -> None:
        line: str | None = ""
        while line is not None and "child-pid" not in line:
            line = await self._next_line(self._info)
        if line and (found := re.search(r"\d+", line)):
            # Its id cannot have passed to another: it waits for a request.
            self._init_pid = int(found.group())
            self._init_pidfd = os.pidfd_open(self._init_pid)

    def _reach_inside(self) -> None:
        """Get hold of what is only there once the interpreter is ready and before it runs code."""
        assert self._process
        if self._launch.isolation == "apptainer" and (pid := namespace_init(self._process.pid)):
            self._init_pidfd = os.pidfd_open(pid)
        if self._config.work_mb:
            inside = f"/proc/{self._init_pid}/root{WORK_FOLDER}"
            self._work = WorkFolder(self._own_folder or inside, self._config)

    async def _next_line(self, pipe: LinePipe) -> str | None:
        """The next line, or None if the process ended without one."""
        assert self._exit, "start comes first"
        line = pipe.waiting_line()
        if line is None:
            await _unless_done(pipe.wait(), self._exit)
            line = pipe.waiting_line()
        return line

    async def _end(self) -> None:
        if self._process is None or self._exit is None:
            return
        is_own = self._exit.get_loop() is asyncio.get_running_loop()
        if is_own and self._exit.cancelled():  # As all tasks are at an event loop's end.
            self._exit = asyncio.create_task(self._process.wait())
        if self._launch.is_bubblewrap and self._init_pidfd < 0 and is_own:
            with suppress(OSError, TimeoutError):  # Cut off while it started.
                async with asyncio.timeout(_END_LIMIT_S):
                    await self._learn_first_process()
        with suppress(ProcessLookupError):
            if self._init_pidfd >= 0:
                signal.pidfd_send_signal(self._init_pidfd, signal.SIGKILL)
            elif not self._launch.is_bubblewrap:
                os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            self._process.kill()
        # Where an event loop ended before its interpreters, it is done or not to be waited for.
        if not self._exit.done() and is_own:
            await asyncio.wait({self._exit})
        if self._init_pidfd >= 0:
            await _wait_readable(self._init_pidfd)


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Await work that must not be cut off in the middle: a process would be lost from sight."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


async def _unless_done(waiting: Coroutine[None, None, None], other: asyncio.Task[int]) -> None:
    """Wait for the one or the other."""
    task = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait({task, other}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()


async def _wait_readable(pidfd: int) -> None:
    """Wait until a process has ended, for the first of a namespace: until all in it have."""
    loop = asyncio.get_running_loop()
    is_over = asyncio.Event()
    loop.add_reader(pidfd, is_over.set)
    try:
        async with asyncio.timeout(_END_LIMIT_S):
            await is_over.wait()
    except TimeoutError:
        raise SandboxError(f"processes of a run still live {_END_LIMIT_S:g} s later") from None
    finally:
        loop.remove_reader(pidfd)
