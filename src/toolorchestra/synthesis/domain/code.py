"""Synthesised code as text: what one function may consist of, and the file that holds all.

It is parsed here and run in the sandbox alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

PREAMBLE = '''"""The domain's functions, written by a model: to be run in a sandbox alone."""

from __future__ import annotations

import datetime
import json
import math
import re
from decimal import Decimal
from typing import Any, Literal

from toolorchestra.domain.database import Database
from toolorchestra.domain.fault import DomainError
from toolorchestra.domain.new_key import new_key
from toolorchestra.domain.value import money, money_text
'''
MAX_CHARS = 20_000


def functions_file(codes: Mapping[str, str]) -> str:
    """The text of `functions.py`, by name of function."""
    names = "".join(f"    {name},\n" for name in codes)
    bodies = "".join(f"\n\n{code.strip()}\n" for code in codes.values())
    return f"{PREAMBLE}{bodies}\n\nFUNCTIONS = (\n{names})\n"


def code_problem(code: str, name: str) -> str | None:
    """Why `code` is not the one function `name`; None: it is."""
    if len(code) > MAX_CHARS:
        return f"code: {len(code)} characters; use up to {MAX_CHARS}"
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"code: is no Python ({error or type(error).__name__})"
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef) or body[0].name != name:
        return (
            f"code: has to be the one function {name} and nothing beside it; what else it needs "
            "goes into the function"
        )
    if body[0].decorator_list:
        return "code: a decorator is not allowed"
    return None
