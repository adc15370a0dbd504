"""Runs untrusted Python, each program in a process and namespaces of its own.

A small model writes these programs and is rewarded for results, so whatever is reachable will be
reached: programs see no file of the user's, no network, no other process and no variable of the
environment, and every resource they can use up has a limit.
"""

from __future__ import annotations

from toolorchestra.sandbox.command import Launch
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.process import SandboxProcess
from toolorchestra.sandbox.result import SandboxResult


class Sandbox:
    """Runs programs, each in a process and namespaces of its own."""

    def __init__(self, launch: Launch, config: SandboxConfig) -> None:
        """Take what `find_sandbox` found."""
        self._launch = launch
        self._config = config

    async def run(self, code: str) -> SandboxResult:
        """Run a program from an empty state; all its processes have ended on return.

        Raises:
            SandboxError: If the sandbox itself fails.
        """
        process = self.process()
        try:
            await process.start()
            return await process.run(code, is_last=True)
        finally:
            await process.close()

    def process(self) -> SandboxProcess:
        """An interpreter that is not started yet, to be closed by the caller."""
        return SandboxProcess(self._launch, self._config)
