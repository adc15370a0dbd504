from __future__ import annotations

import errno
import os
import struct

import pytest

from toolorchestra.sandbox.seccomp import filter_file, seccomp_filter

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003


def decide(machine: str, number: int, *arguments: int, arch: int) -> int:
    """What the kernel's interpreter makes of the filter: a second reading of classic BPF."""
    program = seccomp_filter(machine)
    assert program is not None
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    place, held = 0, 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * place)
        place += 1
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            is_true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            place += if_true if is_true else if_false


@pytest.mark.parametrize(
    ("machine", "arch", "column"), [("x86_64", X86_64, 0), ("aarch64", AARCH64, 1)]
)
def test_calls_are_refused_or_allowed_by_number(machine: str, arch: int, column: int) -> None:
    refused = [(101, 117), (165, 40), (272, 97), (250, 219), (425, 425)]  # ptrace ... io_uring
    allowed = [(0, 63), (1, 64), (257, 56), (231, 94)]  # read, write, openat, exit_group
    for numbers in refused:
        assert decide(machine, numbers[column], arch=arch) == REFUSE | errno.EPERM
    for numbers in allowed:
        assert decide(machine, numbers[column], arch=arch) == ALLOW


def test_clone_is_refused_only_with_a_user_namespace() -> None:
    assert decide("x86_64", 56, 0x00010000, arch=X86_64) == ALLOW
    assert decide("x86_64", 56, 0x10000011, arch=X86_64) == REFUSE | errno.EPERM
    assert decide("x86_64", 435, arch=X86_64) == REFUSE | errno.ENOSYS


def test_terminal_injection_is_refused_and_other_requests_are_not() -> None:
    assert decide("x86_64", 16, 0, 0x5412, arch=X86_64) == REFUSE | errno.EPERM
    assert decide("x86_64", 16, 0, 0x541C, arch=X86_64) == REFUSE | errno.EPERM
    assert decide("x86_64", 16, 0, 0x5401, arch=X86_64) == ALLOW


def test_calls_of_another_architecture_end_the_program() -> None:
    assert decide("x86_64", 0, arch=I386) == KILL
    assert decide("x86_64", 0x40000000 + 101, arch=X86_64) == KILL  # the x32 numbers


def test_a_machine_of_unknown_call_numbers_has_no_filter() -> None:
    assert seccomp_filter("riscv64") is None


def test_the_file_holds_the_filter_and_is_closed_afterwards() -> None:
    with filter_file() as descriptor:
        assert descriptor is not None
        assert os.read(descriptor, 1 << 16) == seccomp_filter()
    with pytest.raises(OSError):
        os.fstat(descriptor)
