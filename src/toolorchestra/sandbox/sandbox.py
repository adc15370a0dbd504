"""Runs untrusted Python, each program in a process and namespaces of its own.

A small model writes these programs and is rewarded for results, so whatever is reachable will be
reached: programs see no file of the user's, no network, no other process and no variable of the
environment, and every resource they can use up has a limit.
"""

from __future__ import annotations

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.launch import Launch
from toolorchestra.sandbox.process import SandboxProcess
from toolorchestra.sandbox.result import SandboxError, SandboxResult
from toolorchestra.sandbox.warm import WarmWorkers


class Sandbox:
    """Runs programs, each in a process and namespaces of its own."""

    def __init__(self, launch: Launch, config: SandboxConfig) -> None:
        """Take what `find_sandbox` found."""
        self._launch = launch
        self._config = config
        self._warm = WarmWorkers(self._process, num_workers=config.warm_workers)

    async def run(self, code: str, files: tuple[InputFile, ...] = ()) -> SandboxResult:
        """Run a program from an empty state; all its processes have ended on return.

        Raises:
            SandboxError: If the sandbox itself fails.
        """
        process, result = await self.begin(code, files, is_last=True)
        await process.close()
        return result

    async def begin(
        self, code: str, files: tuple[InputFile, ...] = (), *, is_last: bool
    ) -> tuple[SandboxProcess, SandboxResult]:
        """Run a program as the first of an interpreter, which the caller closes.

        Args:
            code: Python source.
            files: What it finds in its folder.
            is_last: Whether the interpreter ends with it.

        Raises:
            SandboxError: If the sandbox itself fails; the interpreter is closed then.
        """
        if worker := await self._warm.take():
            if result := await _first(worker, code, files, is_last=is_last):
                return worker, result
            await worker.close()
        process = self._process()
        try:
            await process.start()
            return process, await process.run(code, files, is_last=is_last)
        except BaseException:  # cancelled too: no process may be left behind
            await process.close()
            raise

    async def close(self) -> None:
        """End the interpreters that wait; a later run would start anew."""
        await self._warm.close()

    def _process(self) -> SandboxProcess:
        return SandboxProcess(self._launch, self._config)


async def _first(
    worker: SandboxProcess, code: str, files: tuple[InputFile, ...], *, is_last: bool
) -> SandboxResult | None:
    """The result, or None where the worker turns out to have died before it took the code."""
    try:
        result = await worker.run(code, files, is_last=is_last)
    except SandboxError:
        if worker.has_begun:
            await worker.close()
            raise
        return None
    except BaseException:  # cancelled too: no process may be left behind
        await worker.close()
        raise
    return result if worker.has_begun else None
