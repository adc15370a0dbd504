"""What malicious functions of an untrusted domain try on the host; each must be contained.

Where possible, the host checks what happened instead of believing the code.
"""

from __future__ import annotations

import socket
import time
import uuid
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from tests.integration.hostile_domain import LIMIT_S, attempt, copy_hostile, result_of
from tests.integration.sandbox_runs import host_processes

from toolorchestra.domain.fault import DomainBug
from toolorchestra.domain.untrusted import worker
from toolorchestra.domain.untrusted.limits import limits_of
from toolorchestra.domain.untrusted.load import load_untrusted

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def domain(tmp_path_factory):
    folder = copy_hostile(tmp_path_factory.mktemp("domains"))
    return load_untrusted(folder, limits=limits_of({"timeout_s": LIMIT_S}))


@pytest.fixture
def token():
    return f"token-{uuid.uuid4().hex}"


def refuse(domain, code):
    """Why the code came to nothing; the next call must find all as it should be."""
    with pytest.raises(DomainBug) as caught:
        attempt(domain, code)
    assert result_of(domain, "result = 6 * 7") == 42
    return str(caught.value)


def test_a_file_in_the_users_home_is_not_there(domain, token):
    secret = Path.home() / f".{token}"
    secret.write_text(token)
    try:
        reason = refuse(domain, f"result = open({str(secret)!r}).read()")
    finally:
        secret.unlink()
    assert reason.startswith("attempt broke: FileNotFoundError")


def test_no_folder_of_the_host_holds_a_planted_file_and_no_variable_a_secret(
    token, tmp_path, monkeypatch
):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "token")
    patient = limits_of({"timeout_s": 60.0})
    domain = load_untrusted(copy_hostile(tmp_path), has_tasks=False, limits=patient)
    planted = [Path.home() / token, Path.cwd() / token, tmp_path / token, Path("/dev/shm") / token]
    for path in planted:
        path.write_text("secret")
    try:
        found = result_of(
            domain,
            f"""
            import os
            result = sorted(os.environ)
            for folder, folders, files in os.walk("/"):
                if folder == "/":
                    folders[:] = set(folders) - {{"proc", "usr", "sys"}}
                result += [name for name in files + folders if {token!r} in name]
            """,
        )
    finally:
        for path in planted:
            path.unlink()
    assert set(found) <= {"LC_CTYPE", "PWD"}  # Python's and bubblewrap's own


def test_there_is_no_network(domain):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        reason = refuse(
            domain, f"import socket; socket.create_connection(('127.0.0.1', {port}), 1)"
        )
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "Error" in reason


def test_nothing_can_be_written_anywhere(domain, tmp_path, token):
    folders = ["/", "/tmp", "/dev/shm", "/dev", "/etc", "/usr", "/home", "/var/tmp", "/run",
               str(tmp_path), str(Path.home()), str(Path.cwd()), "/proc/self"]  # fmt: skip
    written = result_of(
        domain,
        f"""
        import os
        result = []
        for folder in {folders!r}:
            for make in (lambda path: open(path, "w").close(), os.mkdir, os.mkfifo):
                try:
                    make(folder + "/{token}")
                    result.append(folder)
                except OSError:
                    pass
        """,
    )
    assert written == []
    assert not (tmp_path / token).exists()


def test_a_fork_bomb_ends_with_its_call(domain):
    before = len(psutil.Process().children(recursive=True))
    started_s = time.monotonic()
    refuse(domain, "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
    assert time.monotonic() - started_s < LIMIT_S + 5
    assert len(psutil.Process().children(recursive=True)) <= before + 4  # at most a second worker


def test_memory_is_bounded(domain):
    assert "MemoryError" in refuse(domain, "result = len(bytearray(1 << 30))")


def test_what_it_prints_goes_nowhere(domain, capfd):
    flood = "import sys\nfor _ in range(100): print('x' * (1 << 20)); sys.stderr.write('y' * 9999)"
    assert result_of(domain, f"{flood}\nresult = 1") == 1
    assert capfd.readouterr() == ("", "")


def test_a_result_of_100_mb_is_not_taken(domain):
    refuse(domain, "result = 'x' * (100 << 20)")
    flood = "import os\nfor _ in range(100): os.write(3, b'x' * (1 << 20))"
    assert refuse(domain, flood) == "attempt broke: it gave more than 4194304 bytes"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(1000)",
        "import signal\nfor n in (1, 2, 14, 15, 24): signal.signal(n, signal.SIG_IGN)\n"
        "while True: pass",
        "import os\nos.close(3)\nwhile True: os.sched_yield()",
    ],
)
def test_a_call_ends_when_its_time_is_over(domain, code):
    started_s = time.monotonic()
    assert refuse(domain, code) == f"attempt broke: it ran longer than {LIMIT_S:g} s"
    assert time.monotonic() - started_s < LIMIT_S + 5


@pytest.mark.parametrize("target", ["os.getppid()", "1", "-1", "0"])
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", "SIGSTOP"])
def test_signals_at_whoever_is_there_harm_no_later_call(domain, monkeypatch, target, number):
    monkeypatch.setattr(worker, "_GRACE_S", 1.0)
    code = f"import os, signal\ntry: os.kill({target}, signal.{number})\nexcept OSError: pass"
    with suppress(DomainBug):
        attempt(domain, code)
    assert result_of(domain, "result = 6 * 7") == 42


def test_a_process_that_ends_itself_breaks_the_call_alone(domain):
    assert refuse(domain, "import os; os._exit(3)").endswith("ended its process (exit code 3)")
    assert refuse(domain, "import os; os.abort()").endswith("ended its process (SIGABRT)")
    assert refuse(domain, "raise SystemExit(0)").endswith("SystemExit: 0")
    assert "SIGSEGV" in refuse(domain, "import ctypes; ctypes.string_at(1)")


def test_a_process_in_the_background_ends_with_the_call(domain, token):
    started = result_of(
        domain,
        f"""
        import os
        if os.fork() == 0:
            os.setsid()
            os.closerange(0, 64)
            if os.fork() == 0:
                os.execv("/bin/sh", ["sh", "-c", "sleep 600; true", {token!r}])
            os._exit(0)
        import time
        time.sleep(0.3)
        result = "started"
        """,
    )
    assert started == "started"
    assert host_processes(token) == []


def test_a_fork_that_answers_too_is_no_answer(domain):
    assert "it gave no JSON" in refuse(domain, "import os; os.waitpid(os.fork() or -1, 0)")
