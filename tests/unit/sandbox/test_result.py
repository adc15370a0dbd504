from __future__ import annotations

import pytest

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.sandbox.result import SandboxResult, judge


def judged(
    line: str | None,
    exit_code: int | None = 0,
    *,
    has_timed_out: bool = False,
    stdout: tuple[bytes, int] = (b"", 0),
) -> SandboxResult:
    return judge(
        line,
        exit_code=exit_code,
        has_timed_out=has_timed_out,
        stdout=stdout,
        stderr=(b"", 0),
        config=SandboxConfig(timeout_s=2.5, memory_mb=64, max_output_bytes=3),
    )


@pytest.mark.parametrize(
    ("line", "exit_code", "status", "message"),
    [
        ("ok ", 0, "ok", ""),
        ("ok ", None, "ok", ""),
        ("error ValueError: no", 0, "error", "ValueError: no"),
        ("memory ", 0, "memory", "needed more than 64 MB of memory"),
        ("ok ", 3, "error", "the program ended the interpreter (exit code 3)"),
        (None, 0, "error", "the program ended the interpreter (exit code 0)"),
        (None, 139, "error", "the program ended the interpreter (signal SIGSEGV)"),
        (None, -9, "error", "the program ended the interpreter (signal SIGKILL)"),
        (None, 255, "error", "the program ended the interpreter (exit code 255)"),
        ("forged words", 0, "error", "the program ended the interpreter (exit code 0)"),
    ],
)
def test_status_follows_from_the_last_word_and_the_exit_code(
    line: str | None, exit_code: int | None, status: str, message: str
) -> None:
    result = judged(line, exit_code)
    assert (result.status, result.message) == (status, message)


def test_a_timeout_counts_whatever_the_program_said() -> None:
    result = judged("ok ", has_timed_out=True)
    assert (result.status, result.message) == ("timeout", "ran longer than 2.5 s")


def test_cut_output_says_how_much_is_missing() -> None:
    result = judged("ok ", stdout=(b"abc", 7))
    assert result.status == "output_limit"
    assert result.message == "printed more than 3 bytes"
    assert result.stdout == "abc\n[7 more bytes were cut]"


def test_an_error_stays_an_error_where_output_was_cut_too() -> None:
    assert judged("error E: x", stdout=(b"abc", 7)).status == "error"


def test_output_cut_in_the_middle_of_a_character_is_still_text() -> None:
    assert judged("ok ", stdout=("aé".encode()[:2], 1)).stdout.startswith("a\ufffd\n")
