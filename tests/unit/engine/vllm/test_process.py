"""Servers as processes: what they are started with, that none outlives its run, why they ended."""

import os
import signal
import subprocess
import sys

import pytest
from tests.unit.engine.vllm.fleet import (
    STAND_IN,
    group_of,
    is_alive,
    make_weights,
    real_process,
    until,
)

from toolorchestra.engine.vllm import process as vllm_process
from toolorchestra.engine.vllm.process import VllmProcess
from toolorchestra.engine.vllm.server import VllmServer
from toolorchestra.process import free_port

STAMP = "11-30 00:16:28"
WORKER = f"(Worker pid=24805) ERROR {STAMP} [multiproc_executor.py:1063] "
CORE = f"(EngineCore pid=24794) ERROR {STAMP} [core.py:1512] "
API = f"(APIServer pid=24781) ERROR {STAMP} [async_llm.py:906] "
START = f"""\
INFO {STAMP} [importing.py:44] Triton is installed but 0 active driver(s) found.
(APIServer pid=24781) INFO {STAMP} [model.py:733] Resolved architecture: Qwen3ForCausalLM
(APIServer pid=24781) WARNING {STAMP} [system_utils.py:255] Found ulimit of 20000 and failed to \
increase it. This can cause errors like `OSError: [Errno 24] Too many open files`.
(APIServer pid=24781) WARNING {STAMP} [base.py:380] Traceback (most recent call last):
(APIServer pid=24781) WARNING {STAMP} [base.py:380] ValueError: Tokenizer not available when \
`skip_tokenizer_init=True`
INFO:     Application startup complete.
"""
"""What it writes when all is well."""
END = f"""\
(APIServer pid=24781) INFO {STAMP} [launcher.py:304] [shutdown] API server: shutting down
INFO:     Application shutdown complete.
nanobind: leaked 4 instances!
"""
BROKE = f"""\
{WORKER}WorkerProc hit an exception.
{WORKER}Traceback (most recent call last):
{WORKER}    raise RuntimeError("CPU Generator does not use offset")
{WORKER}RuntimeError: CPU Generator does not use offset
{CORE}EngineCore encountered a fatal error.
{CORE}Traceback (most recent call last):
{CORE}RuntimeError: Worker failed with error 'CPU Generator does not use offset', please check the \
stack trace above for the root cause
Process EngineCore:
Traceback (most recent call last):
RuntimeError: Worker failed with error 'CPU Generator does not use offset', please check the stack \
trace above for the root cause
{API}AsyncLLM output_handler failed.
{API}vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace \
(above) for the root cause.
"""
NO_ROOM = "ValueError: Available memory on node 0 (0.5/31.3 GiB) on kv cache allocation is less"
NO_START = f"""\
\x1b[1;36m(Worker pid=24805)\x1b[0;0m ERROR {STAMP} [multiproc_executor.py:953] {NO_ROOM}
{CORE}EngineCore failed to start.
{CORE}Exception: WorkerProc initialization failed due to an exception in a background process. See \
stack trace for root cause.
Traceback (most recent call last):
  File "api_server.py", line 24, in <module>
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): \
{{'EngineCore': 1}}
"""
KILLED = f"""\
(EngineCore pid=24794) ERROR {STAMP} [multiproc_executor.py:315] Worker proc VllmWorker-0 died \
unexpectedly (exit code: -9), shutting down executor.
{CORE}RuntimeError: cancelled
"""
REFUSED = """\
Traceback (most recent call last):
pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
  Value error, User-specified max_model_len (9000) is greater than the derived one [type=x]
    For further information visit https://errors.pydantic.dev/2.13/v/value_error
"""


def writer(folder, text, name="worker.log"):
    """A process that writes to its log and ends."""
    (folder / "text").write_text(text)
    command = ["sh", "-c", f"cat {folder / 'text'}"]
    process = VllmProcess(command, env={}, log=folder / name, port=free_port())
    process._process.wait()
    return process


@pytest.mark.parametrize(
    "text, cause",
    [
        (START + BROKE + END, "RuntimeError: CPU Generator does not use offset"),
        (START + NO_START, NO_ROOM),
        (BROKE + KILLED + END, "RuntimeError: CPU Generator does not use offset"),
        (START + KILLED + END, "Worker proc VllmWorker-0 died unexpectedly (exit code: -9), shut"),
        (REFUSED, "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelC"
         "onfig: Value error, User-specified max_model_len (9000) is greater"),
        (f"{START}(APIServer pid=1) OSError: [Errno 98] in [x] use", "OSError: [Errno 98] in [x] "),
        (CORE + "torch.OutOfMemoryError: CUDA out of memory.", "torch.OutOfMemoryError: CUDA out"),
        (f"{API}EngineDeadError: See the root cause", "EngineDeadError: See the root cause"),
        (START + "api_server.py: error: unrecognized arguments: --x", "api_server.py: error: unr"),
        (START, "INFO:     Application startup complete."),
        ("\n", "its log is empty"),
    ],
)  # fmt: skip
def test_of_all_that_a_log_says_the_error_that_no_other_caused_is_named(tmp_path, text, cause):
    assert writer(tmp_path, text).last_error().startswith(cause)


def test_an_error_of_an_earlier_start_is_not_blamed(tmp_path):
    assert "offset" in writer(tmp_path, BROKE).last_error()
    later = writer(tmp_path, START)
    assert later.last_error() == "INFO:     Application startup complete."
    assert "offset" in (tmp_path / "worker.log").read_text(), "though the log keeps it"


def test_a_log_that_is_gone_is_said_to_be(tmp_path):
    process = writer(tmp_path, START)
    (tmp_path / "worker.log").unlink()
    assert process.last_error() == "it left no log"


async def test_it_answers_at_its_url_and_begins_with_its_own_weights_log_and_variables(tmp_path):
    weights = make_weights(tmp_path, 4)
    log = tmp_path / "new" / "worker.log"
    process = real_process(
        weights.folder,
        log=log,
        env={"STAND_IN_FAULTS": '{"/health": "503"}'},
        arguments=["--max-model-len", "99", "--unknown-flag"],
    )
    server = VllmServer(process.url, timeout_s=5.0)
    try:
        await until(lambda: process.url in log.read_text())
        assert process.is_running()
        assert await server.max_context() == 99
        assert await server.score(weights.probe_ids) == pytest.approx(weights.probe_logprobs)
        assert not await server.is_healthy(), "its environment says so"
    finally:
        await server.close()
        await process.aend()
    assert not process.is_running()
    assert group_of(process.pid) == []


async def test_a_server_and_a_child_that_ignore_being_asked_are_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(vllm_process, "END_S", 0.3)
    log = tmp_path / "worker.log"
    env = {"STAND_IN_IGNORES_TERM": "1", "STAND_IN_CHILD": "1"}
    process = real_process(make_weights(tmp_path, 1).folder, log=log, env=env)
    await until(lambda: process.url in log.read_text())
    assert len(group_of(process.pid)) == 2
    os.kill(process.pid, signal.SIGTERM)
    assert process.is_running()
    process.end()
    assert not process.is_running()
    assert group_of(process.pid) == []


async def test_a_child_that_outlives_its_server_is_ended_too(tmp_path):
    log = tmp_path / "worker.log"
    process = real_process(make_weights(tmp_path, 1).folder, log=log, env={"STAND_IN_CHILD": "1"})
    await until(lambda: process.url in log.read_text())
    os.kill(process.pid, signal.SIGKILL)
    await until(lambda: not process.is_running())
    assert len(group_of(process.pid)) == 1
    process.end()
    assert group_of(process.pid) == []
    process.end()  # again, when nothing is left


async def test_it_ends_when_the_python_that_started_it_is_killed(tmp_path):
    folder = make_weights(tmp_path, 1).folder
    log = tmp_path / "worker.log"
    program = f"""
import pathlib, time
from toolorchestra.engine.vllm.process import VllmProcess
command = {[sys.executable, STAND_IN, "--model", str(folder)]!r}
log = pathlib.Path({str(log)!r})
process = VllmProcess(command, env={{}}, log=log, port={free_port()})
print(process.pid, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    await until(lambda: "Starting" in log.read_text())
    assert is_alive(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    await until(lambda: not is_alive(pid))
