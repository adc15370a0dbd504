"""Attempts to gain rights inside the sandbox; each must be refused."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from tests.integration.sandbox_runs import run

pytestmark = pytest.mark.sandbox


LIBC = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, *arguments):
    ctypes.set_errno(0)
    done = getattr(libc, name)(*arguments)
    print(name, done if done == -1 else "worked", errno.errorcode.get(ctypes.get_errno(), "none"))
"""


async def test_the_program_has_no_capability_and_can_gain_none() -> None:
    result = await run(
        """
        import os
        fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print(os.getuid() == 0, fields["CapPrm"].strip(), fields["CapEff"].strip(),
              fields["CapAmb"].strip(), fields["NoNewPrivs"].strip(), fields["Groups"].split())
        for change in (os.setuid, os.setgid, lambda _: os.setgroups([0]), os.chroot):
            try:
                change("/" if change is os.chroot else 0)
                print("worked")
            except OSError:
                print("refused")
        """
    )
    first, *rest = result.stdout.splitlines()
    none = "0" * 16
    assert first.startswith(f"False {none} {none} {none} 1 ")
    assert rest == ["refused"] * 4


async def test_setuid_programs_make_nobody_root() -> None:
    result = await run(
        """
        import os, subprocess
        for command in (["su", "root", "-c", "id"], ["sudo", "-n", "id"], ["id", "-u"]):
            try:
                done = subprocess.run(["/usr/bin/" + command[0], *command[1:]],
                                      capture_output=True, text=True)
                print(command[0], done.returncode, done.stdout)
            except OSError as error:
                print(command[0], type(error).__name__)
        """
    )
    assert result.status == "ok"
    assert "uid=0" not in result.stdout
    assert "su 0" not in result.stdout and "sudo 0" not in result.stdout
    assert int(result.stdout.split()[-1]) > 0


async def test_limits_cannot_be_raised() -> None:
    result = await run(
        """
        import resource
        for pid in (0, 1):
            for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
                try:
                    resource.prlimit(pid, limit, (1 << 40, 1 << 40))
                    print("worked")
                except (OSError, ValueError):
                    print("refused")
        """
    )
    assert result.stdout.split() == ["refused"] * 6


async def test_system_calls_that_reach_into_the_kernel_are_refused() -> None:
    result = await run(
        LIBC
        + textwrap.dedent(
            """
            attempt("unshare", 0x10000000)
            attempt("unshare", 0x00020000)
            attempt("mount", b"none", b"/tmp", b"tmpfs", 0, None)
            attempt("umount2", b"/proc", 2)
            attempt("ptrace", 0, 0, 0, 0)
            attempt("ptrace", 16, 1, 0, 0)
            attempt("process_vm_readv", 1, None, 0, None, 0, 0)
            attempt("shmget", 0, 1 << 30, 0o1600)
            attempt("memfd_create", b"x", 0)
            attempt("syscall", 250 if os.uname().machine == "x86_64" else 219, 0, -3, 0)
            """
        )
    )
    lines = result.stdout.splitlines()
    assert len(lines) == 10
    assert all(line.endswith("-1 EPERM") for line in lines), lines


async def test_the_first_process_of_the_sandbox_cannot_be_taken_over() -> None:
    result = await run(
        """
        import os
        if os.getpid() == 1:
            print("refused")  # It is the program itself, with all its limits.
        else:
            try:
                os.open("/proc/1/mem", os.O_RDWR)
                print("worked")
            except OSError:
                print("refused")
        """
    )
    assert result.stdout == "refused\n"


async def test_devices_cannot_be_made_or_opened() -> None:
    result = await run(
        """
        import os, stat
        def make():
            os.mknod("/tmp/memory", 0o600 | stat.S_IFCHR, os.makedev(1, 1))
        def use(path):
            return lambda: os.open(path, os.O_RDWR)
        paths = ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/kvm")
        for attempt in (make, *map(use, paths)):
            try:
                attempt()
                print("worked")
            except OSError:
                print("refused")
        """
    )
    assert result.stdout.split() == ["refused"] * 7


async def test_kernel_settings_cannot_be_changed() -> None:
    before = Path("/proc/sys/kernel/hostname").read_text()
    result = await run(
        """
        import socket
        for path in ("/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
                     "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern"):
            try:
                open(path, "w").write("x")
                print("worked")
            except OSError:
                print("refused")
        try:
            socket.sethostname("taken")
        except OSError:
            print("refused")
        """
    )
    assert result.stdout.split() == ["refused"] * 5
    assert Path("/proc/sys/kernel/hostname").read_text() == before


async def test_no_characters_can_be_injected_into_a_terminal() -> None:
    result = await run(
        """
        import fcntl, os, pty, termios
        main, own = pty.openpty()
        for descriptor in (0, 1, 2, own, "/dev/tty", "/dev/console"):
            try:
                if isinstance(descriptor, str):
                    descriptor = os.open(descriptor, os.O_RDWR)
                fcntl.ioctl(descriptor, termios.TIOCSTI, b"x")
                print("worked")
            except OSError as error:
                print("refused")
        """
    )
    assert result.stdout.split() == ["refused"] * 6
