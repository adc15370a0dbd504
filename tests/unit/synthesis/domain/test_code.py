"""Code is looked at as text: one function and nothing beside it."""

from __future__ import annotations

import ast

import pytest

from toolorchestra.synthesis.domain.code import MAX_CHARS, code_problem, functions_file

GOOD = 'def get(db: Database) -> int:\n    """Count."""\n    return 1\n'


def test_one_function_of_the_right_name_is_code():
    assert code_problem(GOOD, "get") is None


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def get(db) return 1", "is no Python"),
        ("def get(db):\n    return '\x00'", "is no Python"),
        ("def get(db):\n    return " + "(" * 5000 + ")" * 5000, "is no Python"),
        (GOOD.replace("get", "set"), "has to be the one function get"),
        ("", "has to be the one function get"),
        ("import os\n" + GOOD, "and nothing beside it"),
        (GOOD + "get(None)\n", "and nothing beside it"),
        ("async " + GOOD, "has to be the one function get"),
        ("class get:\n    pass\n", "has to be the one function get"),
        ("get = lambda db: 1", "has to be the one function get"),
        ("@print\n" + GOOD, "a decorator is not allowed"),
        (GOOD + "#" * MAX_CHARS, f"use up to {MAX_CHARS}"),
    ],
)
def test_other_code_is_refused_with_the_reason(code, reason):
    assert reason in (code_problem(code, "get") or "")


def test_the_file_holds_all_functions_and_names_them():
    text = functions_file({"get": GOOD, "set": GOOD.replace("get", "set")})
    body = ast.parse(text).body
    assert [one.name for one in body if isinstance(one, ast.FunctionDef)] == ["get", "set"]
    assert text.endswith("FUNCTIONS = (\n    get,\n    set,\n)\n")
    assert "new_key" in text and "DomainError" in text
