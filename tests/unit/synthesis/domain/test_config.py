"""Counts that cannot be meant are refused by their key."""

from __future__ import annotations

import dataclasses

import pytest

from toolorchestra.synthesis.domain.config import CountsConfig, SolverConfig


@pytest.mark.parametrize("key", [one.name for one in dataclasses.fields(CountsConfig)])
def test_a_count_below_its_least_is_refused(key):
    least = 0 if key == "evolutions" else 1
    with pytest.raises(
        ValueError, match=rf"^counts\.{key}: {least - 1} is not allowed; use a whole"
    ):
        CountsConfig(**{key: least - 1})


def test_more_functions_cannot_be_needed_than_are_asked_for():
    with pytest.raises(ValueError, match=r"^counts\.min_functions: 9 is not allowed with 8"):
        CountsConfig(functions=8, min_functions=9)


@pytest.mark.parametrize("key", ["attempts", "max_turns"])
def test_a_solver_has_an_attempt_and_a_turn(key):
    with pytest.raises(ValueError, match=rf"^solver\.{key}: 0 is not allowed"):
        SolverConfig(model="m", **{key: 0})


def test_the_paper_tries_eight_times():
    assert SolverConfig(model="m").attempts == 8


def test_a_solver_without_a_model_is_refused():
    with pytest.raises(ValueError, match=r"^solver\.model: an empty text is not allowed"):
        SolverConfig(model=" ")
