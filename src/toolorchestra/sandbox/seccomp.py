"""A filter of system calls that no program of a policy needs and that reach far into the kernel.

Namespaces hide files, network and processes. They do not hide the kernel itself: keyrings belong to
the user and not to a namespace, a nested user namespace hands out mounts of any size, and kernel
objects such as shared memory segments escape the limit on address space. The filter refuses these.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager

_NUMBERS = {  # (x86_64, aarch64), from the kernel's unistd headers
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_IOCTL = (16, 29)
_AUDIT_ARCH = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32_BIT = 0x4000_0000
_CLONE_NEWUSER = 0x1000_0000
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX

# Classic BPF: load a word, jump if equal / at least / any bit set, return.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_ALLOW = 0x7FFF_0000
_KILL = 0x8000_0000
_REFUSE = 0x0005_0000


def seccomp_filter(machine: str | None = None) -> bytes | None:
    """The filter as a program in classic BPF.

    Args:
        machine: As `platform.machine()` names it; None: this machine.

    Returns:
        The program, 8 bytes an instruction, or None for a machine whose call numbers are unknown.
    """
    known = _AUDIT_ARCH.get(machine or platform.machine())
    if known is None:
        return None
    column, arch = known
    program = [_op(_LOAD, _ARCH_AT), _op(_EQUAL, arch, 1, 0), _op(_RETURN, _KILL)]
    program += [_op(_LOAD, _NUMBER_AT)]
    if column == 0:
        program += [_op(_AT_LEAST, _X32_BIT, 0, 1), _op(_RETURN, _KILL)]
    for numbers in _NUMBERS.values():
        program += _refuse_if_equal(numbers[column], errno.EPERM)
    # C libraries fall back to clone, whose flags a filter can read.
    program += _refuse_if_equal(_CLONE3[column], errno.ENOSYS)
    program += [_op(_EQUAL, _CLONE[column], 0, 4), _op(_LOAD, _ARGUMENTS_AT)]
    program += [_op(_ANY_BIT, _CLONE_NEWUSER, 0, 1), _op(_RETURN, _REFUSE | errno.EPERM)]
    program += [_op(_RETURN, _ALLOW)]
    program += [_op(_EQUAL, _IOCTL[column], 0, 5), _op(_LOAD, _ARGUMENTS_AT + 8)]
    for request in _TERMINAL_INJECTION:
        program += _refuse_if_equal(request, errno.EPERM)
    program += [_op(_RETURN, _ALLOW)]
    return b"".join(program)


@contextmanager
def filter_file() -> Iterator[int | None]:
    """A descriptor from which bubblewrap can read the filter once; None if there is no filter."""
    program = seccomp_filter()
    if program is None:
        yield None
        return
    descriptor = os.memfd_create("filter")
    try:
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_if_equal(value: int, error: int) -> list[bytes]:
    return [_op(_EQUAL, value, 0, 1), _op(_RETURN, _REFUSE | error)]


def _op(code: int, value: int, skip_if_true: int = 0, skip_if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, skip_if_true, skip_if_false, value)
