"""How often matchers are right, by group of cases.

    python -m benchmarks.matching [--public tests/test_all.py ...] [--wrong ours]

`--public` names test files of Math-Verify in a checkout of its own; they are read, not run.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from benchmarks.matching.cases import Case, public_cases, traps
from benchmarks.matching.matchers import MATCHERS

Verdicts = dict[str, list[bool | None]]
_SHOWN_CHARS = 100


def main() -> None:
    """Prints one table of our traps, one of the public cases, and the wrong verdicts asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.matching", description=__doc__)
    parser.add_argument("--public", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--wrong", choices=list(MATCHERS), help="list what this one gets wrong")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    for cases in (traps(), [case for path in asked.public for case in public_cases(path)]):
        if cases:
            verdicts = {
                name: [matcher(case) for case in cases] for name, matcher in MATCHERS.items()
            }
            print(table(cases, verdicts))
            if asked.wrong:
                tell_wrong(cases, verdicts[asked.wrong])


def table(cases: Sequence[Case], verdicts: Verdicts) -> str:
    """A Markdown table: shares of right verdicts by group; arguable cases are a group."""
    groups = [case.group if not case.arguable else "arguable" for case in cases]
    lines = [
        f"| group | cases | {' | '.join(verdicts)} |",
        f"| --- | --: |{' --: |' * len(verdicts)}",
    ]
    for group in [*sorted(set(groups) - {"arguable"}), "arguable"]:
        places = [i for i, name in enumerate(groups) if name == group]
        lines += [_row(group, places, cases, verdicts)] if places else []
    clear = [i for i, name in enumerate(groups) if name != "arguable"]
    lines.append(_row("**all but arguable**", clear, cases, verdicts))
    lines += _kinds_of_error(clear, cases, verdicts)
    return "\n".join(lines) + "\n"


def _row(name: str, places: Sequence[int], cases: Sequence[Case], verdicts: Verdicts) -> str:
    shares = [
        sum(found[i] is cases[i].is_right for i in places) / len(places)
        for found in verdicts.values()
    ]
    return f"| {name} | {len(places)} | {' | '.join(f'{100 * s:.0f} %' for s in shares)} |"


def _kinds_of_error(places: Sequence[int], cases: Sequence[Case], verdicts: Verdicts) -> list[str]:
    """Counts of wrong answers that pass, right ones that do not, and cases left undecided."""
    rows = []
    for name, is_right, verdict in (
        ("wrong answers taken for right", False, True),
        ("right answers taken for wrong", True, False),
    ):
        counts = [
            sum(cases[i].is_right is is_right and found[i] is verdict for i in places)
            for found in verdicts.values()
        ]
        of = sum(cases[i].is_right is is_right for i in places)
        rows.append(f"| {name} | {of} | {' | '.join(map(str, counts))} |")
    undecided = [sum(found[i] is None for i in places) for found in verdicts.values()]
    rows.append(f"| not decided | {len(places)} | {' | '.join(map(str, undecided))} |")
    return rows


def tell_wrong(cases: Sequence[Case], found: Sequence[bool | None]) -> None:
    """Prints each case with a wrong verdict."""
    for case, verdict in zip(cases, found, strict=True):
        if verdict is not case.is_right:
            texts = [repr(text)[-_SHOWN_CHARS:] for text in (case.task.answer, case.given)]
            mark = " (arguable)" if case.arguable else ""
            kind = case.task.answer_kind
            print(f"{case.group} [{kind}]: {' / '.join(texts)} -> {verdict}{mark}")


if __name__ == "__main__":
    main()
