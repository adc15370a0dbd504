"""Faults that a user can mend are told in one sentence; the traceback goes to a file.

Anything else is a fault of the program, and is shown as Python shows it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from toolorchestra.entry.stop import STOPPED, Stopped

FAULT, INTERRUPTED = 1, 130
"""Exit statuses, the second as shells count a Ctrl-C."""
ERROR_FILE = "error.txt"
"""In a run's folder: the traceback of the fault that ended it."""
FULL_ERROR = "HYDRA_FULL_ERROR"
"""Environment variable: with it, every fault is shown with its traceback."""
_DETAILS = "details: "
_NOT_OURS = ("use +", "_type=", "full_key", "See https:")
"""Marks of lines that Hydra and OmegaConf add for those who write schemas."""


@contextlib.contextmanager
def plainly(what_to_do: str) -> Iterator[None]:
    """Ends the process with one sentence where bad input or the machine is at fault.

    Args:
        what_to_do: Said after an interruption.
    """
    before = os.environ.get(FULL_ERROR, "")
    os.environ[FULL_ERROR] = "1"  # Hydra then leaves every fault to what follows
    try:
        yield
    except Stopped as stopped:
        print(stopped, file=sys.stderr)
        sys.exit(STOPPED)
    except BaseException as error:
        if _is_interruption(error):
            print(f"interrupted: {what_to_do}", file=sys.stderr)
            sys.exit(INTERRUPTED)
        if before or explain(error) is None:
            raise
        tell(error)
        sys.exit(FAULT)
    finally:
        os.environ[FULL_ERROR] = before


@contextlib.contextmanager
def keeping_traceback(folder: Path) -> Iterator[None]:
    """Keeps the traceback of what ends the block in `folder`; removes that of an earlier try."""
    path = folder / ERROR_FILE
    path.unlink(missing_ok=True)
    try:
        yield
    except Stopped:
        raise
    except Exception as error:  # whatever it is, it is raised again
        with contextlib.suppress(OSError):
            path.write_text(traceback.format_exc(), encoding="utf-8")
            error.add_note(f"{_DETAILS}{path}")
        raise


def tell(error: BaseException, *, prefix: str = "error") -> None:
    """Prints a fault on standard error: one sentence, or the traceback of a fault of the program.

    Args:
        error: The fault.
        prefix: What the sentence begins with.
    """
    reason = explain(error)
    if reason is None:
        print(f"{prefix}: a fault of the program", file=sys.stderr)
        traceback.print_exception(error)
    else:
        details = _kept_details(error) or (None if _is_composing(error) else _keep_details(error))
        where = f" ({_DETAILS}{details})" if details else ""
        print(f"{prefix}: {reason}{where}", file=sys.stderr)


def explain(error: BaseException) -> str | None:
    """One sentence for the user; None where the program itself is at fault."""
    if _is_composing(error):
        return _explain_composing(error)
    if isinstance(error, OSError) and error.filename is not None:
        return (
            f"cannot use {error.filename} ({error.strerror}); free space, mend its rights, or "
            "choose another place, e.g. output_root=my_runs"
        )
    if isinstance(error, MemoryError):
        return "memory is used up; lower rollout.max_concurrent or trainer.micro_batch_tokens"
    if isinstance(error, ValueError | OSError):
        return _one_line(str(error)) or type(error).__name__
    return None


def _is_composing(error: BaseException) -> bool:
    """Whether the command line or a file of conf/ cannot be read: a traceback would not help."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    return isinstance(error, HydraException | OmegaConfBaseException)


def _explain_composing(error: BaseException) -> str:
    """What Hydra and OmegaConf say, without their advice on files that are not the user's."""
    reasons = [str(error).partition("Config search path")[0]]
    if error.__cause__ is not None:
        reasons.append(str(error.__cause__))
    told = []
    for reason in reasons:
        kept = (line for line in reason.splitlines() if not any(m in line for m in _NOT_OURS))
        told.append(_one_line(" ".join(line.strip().rstrip(".") for line in kept)))
    return f"{'; '.join(told)}; --cfg job shows every key, --help every option"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _kept_details(error: BaseException) -> str | None:
    """The file in the run's folder that holds the traceback already."""
    for note in getattr(error, "__notes__", []):
        if note.startswith(_DETAILS):
            return str(note.removeprefix(_DETAILS))
    return None


def _keep_details(error: BaseException) -> str:
    """Writes the traceback to a new file."""
    text = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="toolorchestra-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
    except OSError:
        return f"repeat with {FULL_ERROR}=1"
    return file.name


def _is_interruption(error: BaseException) -> bool:
    """Whether a Ctrl-C led to `error`: Lightning, for one, turns it into an exit with status 1."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        if isinstance(at, KeyboardInterrupt):
            return True
        seen.add(id(at))
        at = at.__cause__ or at.__context__
    return False
