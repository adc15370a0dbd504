import math

import pytest

from toolorchestra.dataset.config import SKILLS, DatasetConfig


def test_the_default_weighs_all_skills_alike():
    assert DatasetConfig(name="local").skills == dict.fromkeys(SKILLS, 1.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "csv"}, r"dataset\.kind: 'csv' is not allowed; use local or jsonl"),
        ({"kind": "jsonl"}, r"dataset\.path: None is not allowed for the kind jsonl"),
        ({"path": "x.jsonl"}, r"dataset\.path: 'x.jsonl' is not allowed for the kind local"),
        ({"skills": {"maths": 1.0}}, r"dataset\.skills: 'maths' is not allowed; use math, logic"),
        ({"skills": {"math": -1.0}}, r"dataset\.skills\.math: -1.0 is not allowed"),
        ({"skills": {"math": math.nan}}, r"dataset\.skills\.math: nan is not allowed"),
        ({"skills": {}}, r"dataset\.skills: \{\} is not allowed; use at least one weight"),
        ({"skills": {"math": 0.0}}, r"use at least one weight above 0"),
    ],
)
def test_bad_values_are_refused_with_key_value_and_remedy(fields, message):
    with pytest.raises(ValueError, match=message):
        DatasetConfig(name="x", **fields)
