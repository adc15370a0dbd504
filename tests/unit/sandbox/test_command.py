from __future__ import annotations

from typing import Any

import pytest

from toolorchestra.sandbox.command import environment, request, run_command
from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.launch import Isolation, Launch
from toolorchestra.sandbox.python import Python
from toolorchestra.sandbox.seccomp import seccomp_filter
from toolorchestra.sandbox.user_limit import num_own_tasks, process_limit

PLAIN = Python(executable="/opt/bin/python", paths=(), has_packages=False)
FULL = Python(executable="python3", paths=(), has_packages=True)


def launch(isolation: Isolation, python: Python = PLAIN) -> Launch:
    return Launch(
        python=python,
        isolation=isolation,
        bwrap="/usr/bin/bwrap",
        apptainer="/usr/bin/apptainer",
        image="/images/python.sif",
        uids=range(7, 8),
    )


def command(given: Launch, **options: Any) -> list[str]:
    """The command line without the runner's source."""
    line = run_command(given, SandboxConfig(**options), status_fd=5)
    place = line.index("-c") + 1
    assert line[place].startswith('"""The program inside the sandbox')
    return line[:place] + line[place + 1 :]


def test_apptainer_gets_exactly_these_words() -> None:
    program = seccomp_filter()
    assert command(launch("apptainer", FULL), memory_mb=100, is_stateful=True) == [
        "/usr/bin/apptainer", "--silent", "exec", "--containall", "--cleanenv", "--no-home",
        "--no-mount", "home,cwd,hostfs,bind-paths", "--net", "--network", "none", "--uts",
        "--hostname", "sandbox", "--no-privs", "--no-umask", "--no-eval",
        "--env", "OPENBLAS_NUM_THREADS=1", "--env", "OMP_NUM_THREADS=1",
        "--env", "MKL_NUM_THREADS=1", "--pwd", "/tmp", "/images/python.sif",
        "python3", "-I", "-B", "-X", "utf8", "-c", "0", str(100 << 20), str(64 << 20), "0", "5",
        "session", (program or b"").hex(),
    ]  # fmt: skip


def test_a_plain_process_gets_the_interpreter_alone() -> None:
    line = command(launch("none"), memory_mb=100, is_stateful=True)
    assert line == [
        "/opt/bin/python", "-I", "-B", "-X", "utf8", "-S", "-c", "0", str(100 << 20),
        str(64 << 20), "0", "5", "session",
    ]  # fmt: skip


def test_bubblewrap_shares_no_namespace_and_sets_no_variable_without_packages() -> None:
    line = command(launch("user"))
    assert line[0] == "/usr/bin/bwrap"
    assert {"--unshare-all", "--clearenv", "--die-with-parent"} <= set(line)
    assert "--setenv" not in line
    assert line[line.index("--chdir") + 1] == "/tmp"
    assert "--setenv" in command(launch("user", FULL))


def test_a_working_folder_is_bounded_and_programs_start_there() -> None:
    line = command(launch("root"), work_mb=3)
    place = line.index("/tmp/work")
    assert line[place - 3 : place] == ["--size", str(3 << 20), "--tmpfs"]
    assert line[line.index("--chdir") + 1] == "/tmp/work"


def test_an_environment_below_tmp_is_shown_and_not_hidden_by_it() -> None:
    python = Python(executable="/tmp/e/bin/python", paths=("/tmp/e/bin",), has_packages=True)
    line = command(launch("user", python))
    assert line.index("/tmp") < line.index("/tmp/e/bin")


def test_a_request_tells_limit_rights_and_length_first() -> None:
    assert request(b"1+1", process_limit=20, owns_namespace=True) == b"20 1 3\n1+1"


def test_only_apptainer_is_told_where_programs_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/a")
    monkeypatch.setenv("API_KEY", "secret")
    assert environment(launch("apptainer")) == {"PATH": "/a"}
    assert environment(launch("root")) == {}


def test_where_the_user_is_shared_his_other_processes_are_allowed_for() -> None:
    config = SandboxConfig(max_processes=5)
    assert num_own_tasks() >= 1
    assert process_limit(launch("root"), config) == 5
    assert process_limit(launch("apptainer"), config) > 5
    assert process_limit(launch("none"), config) > 5
