"""Asks before much is paid; where nobody can be asked, the answer has to be there beforehand."""

from __future__ import annotations

import sys
from collections.abc import Callable


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def confirm(
    usd: float,
    *,
    above_usd: float,
    is_agreed: bool,
    ask: Callable[[str], str] | None,
) -> None:
    """Returns where the cost is agreed to.

    Args:
        usd: What is likely to be paid.
        above_usd: Up to here nobody is asked.
        is_agreed: Whether somebody has agreed beforehand.
        ask: Shows a question and returns the answer; None: nobody is there.

    Raises:
        ValueError: It is not agreed to; nothing was paid.
    """
    if usd <= above_usd or is_agreed:
        return
    if ask is None:
        raise ValueError(
            f"confirm_above_usd: about ${usd:.2f} are likely to be paid, more than "
            f"${above_usd:.2f}, and nobody can be asked here; use yes=true, or a larger "
            "confirm_above_usd"
        )
    answer = ask(f"About ${usd:.2f} are likely to be paid. Go on? [y/N] ")
    if answer.strip().lower() not in ("y", "yes"):
        raise ValueError("confirm_above_usd: it was not agreed to, and nothing was paid")
