import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from toolorchestra.judge.cache import JudgementCache, key_of
from toolorchestra.judge.prompt import Case, Prompts
from toolorchestra.judge.reply import Ruling
from toolorchestra.provider.base import Sampling

RULING = Ruling(verdict="not_attempted", reasoning="It says nothing.")
CASE = Case(question="q", golds=("g",), given="a")
ASKED = {"model": "m", "prompts": Prompts(system="s", user="u"), "sampling": Sampling()}


def test_a_key_names_all_that_a_judgement_hangs_on():
    changes = [
        {"case": replace(CASE, question="p")},
        {"case": replace(CASE, golds=("g", "h"))},
        {"case": replace(CASE, given="b")},
        {"model": "n"},
        {"prompts": Prompts(system="t", user="u")},
        {"prompts": Prompts(system="s", user="v")},
        {"sampling": Sampling(max_tokens=5)},
        {"sampling": Sampling(temperature=0.0)},
        {"sampling": Sampling(reasoning_effort="low")},
        {"sampling": Sampling(json_schema={"type": "object"})},
    ]
    keys = {key_of(**({"case": CASE} | ASKED | change)) for change in changes}
    assert len(keys | {key_of(CASE, **ASKED)}) == len(changes) + 1


def test_texts_do_not_run_into_each_other():
    assert key_of(replace(CASE, question="qg", golds=("",)), **ASKED) != key_of(CASE, **ASKED)


@pytest.mark.parametrize("is_file", [True, False])
def test_the_first_judgement_of_a_name_stays(tmp_path, is_file):
    cache = JudgementCache(tmp_path / "sub" / "kept.sqlite" if is_file else None)
    assert cache.get("k") is None
    cache.put("k", RULING, model="m")
    cache.put("k", Ruling(verdict="correct"), model="m")
    assert cache.get("k") == RULING
    cache.close()


def test_two_runs_share_a_file(tmp_path):
    one, two = (JudgementCache(tmp_path / "kept.sqlite") for _ in range(2))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda i: (one, two)[i % 2].put(f"k{i}", RULING, model="m"), range(40)))
    assert all(one.get(f"k{i}") == two.get(f"k{i}") == RULING for i in range(40))
    one.close()
    two.close()


def damaged_later(path):
    """A file whose damage only reading a judgement finds."""
    cache = JudgementCache(path)
    for i in range(200):
        cache.put(f"k{i}", Ruling(verdict="correct", reasoning="x" * 500), model="m")
    cache.close()
    content = bytearray(path.read_bytes())
    content[8192:] = b"\x99" * (len(content) - 8192)
    path.write_bytes(content)


def test_a_damaged_file_is_one_clear_error(tmp_path):
    path = tmp_path / "kept.sqlite"
    path.write_bytes(b"This is no database, but it is long enough to be taken for one. " * 40)
    with pytest.raises(ValueError, match=r"judge.cache: .*kept.sqlite cannot be used .*; use"):
        JudgementCache(path)
    path.unlink()
    damaged_later(path)
    with pytest.raises(ValueError, match=r"judge.cache: .*kept.sqlite cannot be used"):
        cache = JudgementCache(path)
        for i in range(200):
            cache.get(f"k{i}")


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE judgement (name TEXT)")
    with pytest.raises(ValueError, match="judge.cache"):
        JudgementCache(path)


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="judge.cache"):
        JudgementCache(tmp_path / "file" / "kept.sqlite")
