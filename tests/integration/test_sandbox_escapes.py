"""Attempts to reach the host's files and network from the sandbox; each must be contained.

Where possible, the host checks what happened instead of believing the program.
"""

from __future__ import annotations

import os
import socket
import sys
import uuid
from pathlib import Path

import pytest
from tests.integration.sandbox_runs import run

from toolorchestra.sandbox.launch import TEMPORARY_BYTES

pytestmark = pytest.mark.sandbox


@pytest.fixture
def token() -> str:
    return f"token-{uuid.uuid4().hex}"


async def test_a_file_in_the_users_home_cannot_be_read(token: str) -> None:
    secret = Path.home() / f".{token}"
    secret.write_text(token)
    try:
        result = await run(f"open({str(secret)!r}).read()")
    finally:
        secret.unlink()
    assert result.status == "error"
    assert result.message.startswith("FileNotFoundError")


async def test_no_folder_of_the_host_holds_a_planted_file(token: str, tmp_path: Path) -> None:
    planted = [Path.home() / token, Path.cwd() / token, tmp_path / token, Path("/dev/shm") / token]
    for path in planted:
        path.write_text("secret")
    try:
        result = await run(
            f"""
            import os
            num_files, found = 0, []
            for folder, folders, files in os.walk("/"):
                if folder == "/":
                    folders[:] = set(folders) - {{"proc", "usr"}}
                num_files += len(files)
                found += [name for name in files + folders if {token!r} in name]
            print(found, num_files > 5)
            """
        )
    finally:
        for path in planted:
            path.unlink()
    assert result.stdout == "[] True\n"


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/shadow", "/root/.bashrc", "/home", "/var"])
async def test_system_and_home_paths_do_not_exist(path: str) -> None:
    result = await run(f"import os; os.path.lexists({path!r})")
    assert result.stdout == "False\n"


async def test_nothing_outside_tmp_can_be_written(token: str) -> None:
    folders = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/proc/sys/kernel", "/var", "/run"]
    folders += [sys.base_prefix, os.path.dirname(os.__file__), "/root", "/lib", "/bin"]
    result = await run(
        f"""
        import os
        written = []
        for folder in {folders!r}:
            try:
                open(os.path.join(folder, {token!r}), "w").close()
                written.append(folder)
            except OSError:
                pass
        open("/tmp/{token}", "w").close()
        print(written, os.path.exists("/tmp/{token}"))
        """
    )
    assert result.stdout == "[] True\n"
    assert not any(os.path.lexists(os.path.join(f, token)) for f in [*folders, "/tmp"])


async def test_the_interpreters_own_files_cannot_be_changed() -> None:
    path = os.__file__
    before = Path(path).read_bytes()
    result = await run(
        f"""
        import os
        for attempt in (lambda: open({path!r}, "a"), lambda: os.chmod({path!r}, 0o777),
                        lambda: os.unlink({path!r}), lambda: os.rename({path!r}, "/tmp/os.py"),
                        lambda: open({path!r}, "rb").read(1)):
            try:
                print("worked" if attempt() != b"" else "")
            except OSError as error:
                print("refused")
        """
    )
    assert result.stdout.split() == ["refused"] * 4 + ["worked"]
    assert Path(path).read_bytes() == before


async def test_links_lead_to_nothing_outside(token: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(token)
    result = await run(
        f"""
        import os
        os.symlink({str(secret)!r}, "/tmp/a")
        os.symlink("/proc/self/root{secret}", "/tmp/b")
        os.symlink("/proc/1/root{secret}", "/tmp/c")
        os.symlink("/proc/1/cwd/../../../../..{secret}", "/tmp/d")
        os.symlink("../../../../../../..{secret}", "/tmp/e")
        for name in "abcde":
            try:
                print(open("/tmp/" + name).read())
            except OSError:
                print("refused")
        """
    )
    assert result.stdout.split() == ["refused"] * 5


async def test_open_files_of_the_host_are_not_inherited(token: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(token)
    descriptor = os.open(tmp_path / "secret", os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        result = await run(
            """
            import os
            for descriptor in range(1024):
                try:
                    print(os.readlink(f"/proc/self/fd/{descriptor}").split(":")[0])
                except OSError:
                    pass
            """
        )
    finally:
        os.close(descriptor)
    kinds = result.stdout.split()
    assert kinds[:1] == ["/dev/null"]
    assert set(kinds[1:]) == {"pipe"}
    assert len(kinds) == 5  # Standard streams, requests, status.


async def test_the_disk_and_memory_cannot_be_filled_with_files() -> None:
    result = await run(
        """
        import errno
        codes, num_bytes = set(), 0
        for folder in ("/tmp", "/dev/shm"):
            for number in range(40):
                try:
                    with open(f"{folder}/{number}", "wb", buffering=0) as file:
                        for _ in range(80):
                            num_bytes += file.write(bytes(1 << 20))
                except OSError as error:
                    codes.add(errno.errorcode[error.errno])
        print(num_bytes, sorted(codes))
        """
    )
    num_bytes, codes = result.stdout.split(" ", 1)
    assert 0 < int(num_bytes) <= 2 * TEMPORARY_BYTES
    assert "ENOSPC" in codes


async def test_a_single_file_has_a_largest_size() -> None:
    result = await run(
        """
        with open("/tmp/sparse", "wb") as file:
            file.truncate(10**10)
        """
    )
    assert result.message.startswith("OSError: [Errno 27]")


async def test_files_of_one_run_are_gone_in_the_next() -> None:
    await run("open('/tmp/left', 'w').close(); open('/dev/shm/left', 'w').close()")
    result = await run("import os; os.listdir('/tmp') + os.listdir('/dev/shm')")
    assert result.stdout == "[]\n"


async def test_a_tcp_server_of_the_host_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        server.accept()  # It does listen.
        result = await run(
            f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=2)"
        )
        assert result.status == "error"
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_an_abstract_unix_socket_of_the_host_cannot_be_reached(token: str) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + token)
        server.listen()
        server.setblocking(False)
        with socket.socket(socket.AF_UNIX) as own:
            own.connect("\0" + token)
        server.accept()  # It does listen.
        result = await run(
            f"import socket; socket.socket(socket.AF_UNIX).connect('\\0' + {token!r})"
        )
        assert result.message.startswith("ConnectionRefusedError")
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_there_is_no_way_out_to_the_internet() -> None:
    result = await run(
        """
        import socket
        for address in ("192.0.2.1", "169.254.169.254"):
            try:
                socket.create_connection((address, 80), timeout=1)
            except OSError as error:
                print(error.errno)
        print(sorted(name for _, name in socket.if_nameindex()))
        """
    )
    assert result.stdout.splitlines()[:2] == ["101", "101"]  # ENETUNREACH
    assert "eth0" not in result.stdout
