"""Whether a text gives a formula: equal as mathematics, within a bounded time."""

from __future__ import annotations

import atexit
import contextlib
import json
import re
import select
import subprocess
import sys
import threading
from itertools import pairwise

from toolorchestra.reward.match_extract import JOINT, final_answer, plain, unwrapped
from toolorchestra.reward.match_number import match_number

_MAX_CHARS = 300
_DEADLINE_S = 5.0
_START_S = 60.0
"""The first formula also waits for the process to import its library."""
_FORMULA = re.compile(
    r"\$\$(.+?)\$\$|(?<!\\)\$(.+?)(?<!\\)\$|\\\[(.+?)\\\]|\\\((.+?)\\\)", re.DOTALL
)
_NUMBER_ALONE = re.compile(r"(?<![\\$])\$ ?(-?\d[\d.,]*) ?\$(?!\$)")
_NEGATION = re.compile(r"\b(?:not|never|neither|nor)\b|n't\b", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"[\d.,+\-/^ _eE%]*\d[\d.,+\-/^ _eE%]*")


class MathComparer:
    """Compares formulas in a process of its own, which is ended when one takes too long."""

    def __init__(self) -> None:
        """Starts nothing yet."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._is_warm = False

    def equal(self, gold: str, answer: str, *, deadline_s: float = _DEADLINE_S) -> bool | None:
        """Whether the formulas are equal; None where that took too long or broke the process."""
        with self._lock:
            process = self._process or self._start()
            assert process.stdin and process.stdout
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps([gold, answer]) + "\n")
                process.stdin.flush()
                limit_s = deadline_s if self._is_warm else _START_S
                if select.select([process.stdout], [], [], limit_s)[0]:
                    line = process.stdout.readline()
                    if line:
                        self._is_warm = True
                        return bool(json.loads(line))
            self._end()
            return None

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "toolorchestra.reward.match_math_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self._process

    def close(self) -> None:
        """End the process; the next comparison starts another."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process, self._is_warm = None, False


COMPARER = MathComparer()
"""The one process that all matching of this process shares."""

atexit.register(COMPARER.close)


def formula_of(text: str) -> str:
    """The formula between TeX's marks in `text`, or the formulas of a row ("$x=1$ or $x=2$").

    All of `text` where there is none, where others stand elsewhere, or where the words before
    them deny it.
    """
    found = list(_FORMULA.finditer(text))
    if not found or _NEGATION.search(text[: found[0].start()]):
        return text
    for before, after in pairwise(found):
        if not JOINT.fullmatch(text, before.end(), after.start()):
            return text
    return ", ".join(next(filter(None, match.groups())).strip() for match in found)


def match_math(gold: str, answer: str) -> bool | None:
    """Whether `answer` gives the formula `gold`.

    Plain numbers and percentages are compared as `match_number` does, everything else by
    math-verify.

    Returns:
        None where the comparison took too long to decide.
    """
    answer = _NUMBER_ALONE.sub(r"\1", answer)
    has_box = gold.count(r"\boxed") == 1  # a whole solution may be given as the right answer
    wanted = final_answer(gold).text if has_box else plain(unwrapped(gold))
    given = formula_of(final_answer(answer).text)
    if not wanted or "%" in wanted + given or _PLAIN_NUMBER.fullmatch(wanted):
        verdict = match_number(wanted, answer)
        if verdict or "%" in wanted + given:
            return verdict
    if wanted and re.sub(r"\s", "", wanted) == re.sub(r"\s", "", given):
        return True
    if not given or len(given) > _MAX_CHARS or len(wanted) > _MAX_CHARS:
        return False
    return COMPARER.equal(wanted, given)
