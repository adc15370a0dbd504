import math

import pytest

from toolorchestra.dataset.config import (
    SKILLS,
    DatasetConfig,
    DomainsConfig,
    TableConfig,
    Tau2Config,
)


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


LOCAL = DatasetConfig(name="local")
TABLE = TableConfig(path="owner/name", revision="main")
MIX = {"kind": "mix", "sources": {"a": LOCAL, "b": LOCAL}}


def test_a_mix_takes_sources_of_any_other_kind():
    table = DatasetConfig(name="t", kind="table", table=TABLE)
    mix = DatasetConfig(
        name="m", kind="mix", sources={"a": LOCAL, "b": table}, weights={"a": 0, "b": 2}
    )
    assert mix.sources["b"].table == TABLE


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "table"}, r"dataset\.table: null is not allowed for the kind table; use a"),
        ({"table": TABLE}, r"dataset\.table: a table is not allowed for the kind local"),
        (
            {"kind": "table", "table": TABLE, "path": "x.jsonl"},
            r"dataset\.path: 'x.jsonl' is not allowed for the kind table",
        ),
        ({"weights": {"a": 1.0}}, r"dataset\.sources: a is not allowed; use none, or"),
        ({"kind": "mix"}, r"dataset\.weights: \{\} is not allowed; use at least one weight"),
        (MIX | {"weights": {"a": 1.0}}, r"weights: a is not allowed; use one weight for each so"),
        (MIX | {"weights": {"a": 1.0, "b": -1.0}}, r"dataset\.weights\.b: -1.0 is not allowed"),
        (MIX | {"weights": {"a": 1.0, "b": math.inf}}, r"dataset\.weights\.b: inf is not allo"),
        (MIX | {"weights": {"a": 0.0, "b": 0.0}}, r"use at least one weight above 0"),
        (MIX | {"weights": {"a": 1e308, "b": 1e308}}, r"a finite sum"),
        (MIX | {"weights": {"a": 1.0, "b": 1e-4}}, r"weights\.b: 0.0001 .* at least 0.1% of"),
    ],
)
def test_what_a_kind_lacks_or_does_not_take_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        DatasetConfig(name="x", **fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "tau2"}, r"dataset\.tau2: null is not allowed for the kind tau2; use a domain"),
        (
            {"tau2": Tau2Config()},
            r"dataset\.tau2: a domain is not allowed for the kind local; use a domain with",
        ),
        (
            {"kind": "tau2", "tau2": Tau2Config()},
            r"dataset\.is_heldout: false is not allowed; use true for the kind tau2",
        ),
    ],
)
def test_tau2_is_evaluated_on_alone(fields, message):
    with pytest.raises(ValueError, match=message):
        DatasetConfig(name="x", **fields)


@pytest.mark.parametrize("domain", ["airline", "retail", "telecom", "telecom_small"])
def test_tau2_plays_one_domain_which_no_other_can_be_named_like(domain):
    dataset = DatasetConfig(name="x", kind="tau2", is_heldout=True, tau2=Tau2Config(domain=domain))
    assert dataset.domains == (f"tau2/{domain}",)
    with pytest.raises(ValueError, match=r"dataset\.domain\.folders: 'tau2/x' is not allowed"):
        DomainsConfig(folders={"tau2/x": "folder"})


def test_a_domain_that_tau2_has_not_is_refused_with_those_that_it_has():
    with pytest.raises(ValueError) as caught:
        Tau2Config(domain="mock")
    assert str(caught.value) == (
        "dataset.tau2.domain: 'mock' is not allowed; use airline, retail, telecom, telecom_small"
    )


def test_a_mix_within_a_mix_is_refused():
    inner = DatasetConfig(name="m", **MIX, weights={"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match=r"sources\.a\.kind: 'mix' is not allowed"):
        DatasetConfig(name="x", kind="mix", sources={"a": inner}, weights={"a": 1.0})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"path": " "}, r"dataset\.table\.path: ' ' is not allowed; use a name"),
        ({"split": ""}, r"dataset\.table\.split: '' is not allowed"),
        ({"question": "x", "answer": "x"}, r"dataset\.table\.answer: 'x' is not allowed; use an"),
    ],
)
def test_a_table_needs_names_that_differ(fields, message):
    with pytest.raises(ValueError, match=message):
        TableConfig(**({"path": "owner/name"} | fields))
