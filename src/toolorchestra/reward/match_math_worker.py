"""The process in which formulas are compared: one JSON pair a line in, one verdict a line out.

Symbolic algebra can run for ever, and the library's own limit is a signal, which works in no thread
but the main one. A process of its own can be ended from outside.
"""

from __future__ import annotations

import json
import logging
import resource
import sys

_MAX_MEMORY_BYTES = 2 * 1024**3


def compare(gold: str, answer: str) -> bool:
    """Whether math-verify finds them equal. Its rule is not symmetric: `gold` comes first."""
    from math_verify import parse, verify

    parsed = [parse(f"${text}$", parsing_timeout=None) for text in (gold, answer)]
    return bool(verify(*parsed, timeout_seconds=None))


def main() -> None:
    """Answer pairs from standard input until it closes."""
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    for line in sys.stdin:
        gold, answer = json.loads(line)
        print(json.dumps(compare(gold, answer)), flush=True)


if __name__ == "__main__":
    main()
