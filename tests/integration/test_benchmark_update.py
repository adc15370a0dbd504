"""`benchmarks/update`: all sides make the same update, and the table says what they took."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO

import pytest
import torch
from benchmarks.update import __main__ as command
from benchmarks.update import head, limit
from benchmarks.update.jobs import ALIKE, make_figures
from benchmarks.update.side import check_gradients, gradient_file
from benchmarks.update.work import Work, num_unique
from benchmarks.update.workload import Workload, random_rows


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def run_here(job):
    """A job in this process: to start a dozen would take longer than what they do."""
    said = StringIO()
    with redirect_stdout(said):
        import_module(f"benchmarks.update.{job.script}").main(job.arguments)
    return json.loads(said.getvalue().splitlines()[-1])


def test_all_sides_make_the_same_update_and_the_table_compares_them(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "RAW", tmp_path / "raw.jsonl")
    monkeypatch.setattr(limit, "PEAK_S", 0.1)
    names = ("paper",)
    table = command.make_table(
        tmp_path, names, is_quick=True, repeats=1, threads=1, has_head=False, run=run_here
    )
    head_line, dashes, *rest = table.splitlines()
    rows = [line for line in rest if line.startswith("|")]
    assert head_line == "| figure | ratio | range | of | over |"
    assert len(rows) == len(make_figures(names, has_head=False))
    assert all(
        re.fullmatch(r"\| .* \| \*\*\d+\.\d\d\*\* \| .* \| .* \| .* \|", row) for row in rows
    )
    assert {line.count("|") for line in (head_line, dashes, *rows)} == {6}

    raw = [json.loads(line) for line in command.RAW.read_text().splitlines()]
    figures = {line["job"].partition("/")[2]: line for line in raw}
    losses = [figures[side]["loss"] for side in ALIKE]
    assert losses == pytest.approx([losses[0]] * len(losses), rel=1e-4) and losses[0] != 0
    computed = [figures[side]["computed"] for side in ALIKE]
    assert computed == sorted(computed), "ours computes least, packed rows are not padded"
    assert figures["ours"]["computed"] == figures["limit"]["unique"]
    assert figures["packed"]["computed"] == figures["limit"]["row_tokens"]
    assert figures["limit"]["dense_flops"] == pytest.approx(figures["limit"]["flops"], rel=0.2)


def test_sides_whose_gradients_differ_are_not_compared(tmp_path):
    workload = Workload(name="paper", rows=(), max_tokens=1, folder=tmp_path)
    gradient = torch.tensor([3.0, 4.0])
    torch.save(gradient, gradient_file(workload, "ours"))
    torch.save(gradient * (1 + 1e-5), gradient_file(workload, "peer"))
    assert check_gradients(workload, ["ours", "peer"]) == {"peer": pytest.approx(1e-5, rel=0.1)}
    torch.save(gradient * 1.01, gradient_file(workload, "peer"))
    with pytest.raises(RuntimeError, match="paper: gradients differ from that of ours"):
        check_gradients(workload, ["ours", "peer"])


def test_rows_of_a_group_share_their_prompt_and_end_with_what_was_sampled():
    rows = random_rows(groups=2, scale=1 / 100)
    assert len(rows) == 16
    for group in (rows[:8], rows[8:]):
        prompts = {item.row.ids[: item.row.loss_mask.index(1)] for item in group}
        assert len(prompts) == 1
        assert sum(item.advantage for item in group) == pytest.approx(0.0, abs=1e-6)
    for item in rows:
        first = item.row.loss_mask.index(1)
        assert 144 <= first <= 240
        assert 12 <= len(item.row.ids) - first <= 80
        assert item.row.loss_mask[-1] == 1 and 0 in item.row.loss_mask[first:]


def test_tokens_are_distinct_where_anything_before_them_is():
    # 1 2 3 | . . 4 | 2 3: the last two stand elsewhere
    assert num_unique([(1, 2, 3), (1, 2, 4), (2, 3), (1, 2)]) == 6


def test_the_dense_batch_has_the_tokens_and_pairs_of_the_tree():
    # 3 rows of 5: 15 tokens, 3 * (1 + 2 + 3 + 4 + 5) pairs
    work = Work(tokens=15, pairs=45, loss_tokens=3, micro_batches=1, flops=1.0)
    assert limit.dense_shape(work) == (3, 5)


def test_chunks_and_all_logits_at_once_say_the_same(monkeypatch):
    monkeypatch.setattr(head, "CHUNK_LOGITS", 3 * 11)
    layer = torch.nn.Linear(4, 11, bias=False)
    hidden_ND = torch.randn(8, 4, requires_grad=True)
    targets_N = torch.randint(11, (8,))
    naive, chunked = (way(layer, hidden_ND, targets_N) for way in head.WAYS.values())
    for one, other in zip(naive, chunked, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_memory_of_more_tokens_by_arithmetic():
    # 100 MiB and then 2 MiB a token
    less, more = ({"tokens": n, "growth_mib": 100.0 + 2 * n} for n in (10, 30))
    assert head.by_arithmetic(less, more, 1000) == 2100
