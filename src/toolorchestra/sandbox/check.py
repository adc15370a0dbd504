"""One program run when the tool is built: do the required packages import, are files reached?"""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.input_files import InputFile
from toolorchestra.sandbox.launch import Launch
from toolorchestra.sandbox.result import SandboxError, SandboxResult
from toolorchestra.sandbox.sandbox import Sandbox

_LIMIT_S = 120.0
"""The first import of big packages from a slow disk takes long."""
_MIN_OUTPUT_BYTES = 4096

_IMPORT = """
import importlib
for name in {names!r}:
    try:
        importlib.import_module(name)
    except BaseException as error:
        print(f"{{name}} ({{type(error).__name__}}: {{error}})"[:300])
"""
_COPY = "open('copy', 'wb').write(open('given', 'rb').read()) and None\n"


def check_inside(launch: Launch, config: SandboxConfig) -> None:
    """See that programs find what the config promises them.

    Raises:
        ValueError: A required package does not import inside, or files do not pass.
    """
    if not config.required_packages and not config.work_mb:
        return
    tried = replace(
        config,
        timeout_s=_LIMIT_S,
        is_stateful=False,
        warm_workers=0,
        max_output_bytes=max(config.max_output_bytes, _MIN_OUTPUT_BYTES),
    )
    with ThreadPoolExecutor(max_workers=1) as thread:  # The caller may be in an event loop.
        thread.submit(asyncio.run, _check(Sandbox(launch, tried), tried, launch)).result()


async def _check(sandbox: Sandbox, config: SandboxConfig, launch: Launch) -> None:
    if names := config.required_packages:
        result = await _run(sandbox, _IMPORT.format(names=names))
        if fault := result.stdout.strip() or result.message:
            raise ValueError(
                f"sandbox.required_packages: {', '.join(names)} is not allowed; use packages that "
                f"{launch.python.executable} can import within memory_mb={config.memory_mb} and "
                f"max_processes={config.max_processes}, or name another interpreter with the "
                f"option python. What does not import: {'; '.join(fault.splitlines())}"
            )
    if config.work_mb:
        data = b"to and fro"
        given = InputFile(name="given", data=data, sha256=hashlib.sha256(data).hexdigest())
        result = await _run(sandbox, _COPY, given)
        if [file.sha256 for file in result.files.files] != [given.sha256]:
            raise ValueError(
                f"sandbox.work_mb: {config.work_mb} is not allowed; use 0, as files do not pass "
                f"into the sandbox of this machine and out of it: {result.message or 'they differ'}"
            )


async def _run(sandbox: Sandbox, code: str, *files: InputFile) -> SandboxResult:
    try:
        return await sandbox.run(code, files)
    except SandboxError as error:
        return SandboxResult(status="error", stdout="", message=str(error))
