from dataclasses import replace

import pytest
import torch
from tests.unit.trainer.rows import (
    PROMPT_A,
    all_shapes,
    ids_of,
    make_row,
    num_prefixes,
    row_of,
)

from toolorchestra.trainer.batch import make_micro_batch


def two_rows():
    first = row_of((1, 2, 3, 9, 4), (0, 0, 0, 1, 0), advantage=0.5, name="e/0")
    second = row_of((1, 2, 3, 5, 6, 7), (0, 0, 0, 1, 0, 1), advantage=-1.0, name="e/1")
    first = replace(first, row=replace(first.row, logprobs=(0, 0, 0, -0.1, 0)))
    return [first, replace(second, row=replace(second.row, logprobs=(0, 0, 0, -0.2, 0, -0.3)))]


def test_a_micro_batch_by_hand():
    batch = make_micro_batch(two_rows())
    # The line is 1 2 3 | 5 6 7 | 9 4: the second row begins with a smaller id where they part.
    assert batch.tree.ids_L.tolist() == [1, 2, 3, 5, 6, 7, 9, 4]
    assert batch.num_tokens == 8
    # The loss tokens stay in row order: 9 and 5 follow the prompt's last token, 7 follows the 6.
    assert batch.predictors_N.tolist() == [2, 2, 4]
    assert batch.targets_N.tolist() == [9, 5, 7]
    assert batch.rows_N.tolist() == [0, 1, 1]
    assert batch.sampler_logprobs_N.tolist() == pytest.approx([-0.1, -0.2, -0.3])
    assert batch.advantages_N.tolist() == [0.5, -1.0, -1.0]
    assert batch.names == ("e/0", "e/1")


def test_a_micro_batch_that_shares_nothing_by_hand():
    batch = make_micro_batch(two_rows(), share_prefixes=False)
    assert batch.tree.ids_L.tolist() == [1, 2, 3, 9, 4, 1, 2, 3, 5, 6, 7]
    assert batch.num_tokens == 11
    assert batch.predictors_N.tolist() == [2, 5 + 2, 5 + 4]
    assert batch.targets_N.tolist() == [9, 5, 7]
    assert batch.rows_N.tolist() == [0, 1, 1]


@pytest.mark.parametrize("share_prefixes", [True, False])
def test_every_loss_token_is_told_from_the_tokens_before_it(share_prefixes):
    rows = all_shapes()
    batch = make_micro_batch(rows, share_prefixes=share_prefixes)
    wanted = [
        (r, row.ids[: place + 1])
        for r, row in enumerate(item.row for item in rows)
        for place in range(1, len(row.ids))
        if row.loss_mask[place]
    ]
    ends, ids = batch.tree.ends_L, batch.tree.ids_L
    for (r, prefix), predictor, target, row in zip(
        wanted, batch.predictors_N, batch.targets_N, batch.rows_N, strict=True
    ):
        ancestors = [j for j in range(int(predictor) + 1) if predictor < ends[j]]
        assert (*ids[ancestors].tolist(), int(target)) == prefix
        assert row == r


def test_what_rows_begin_with_alike_is_computed_once():
    # Written out: 15 + 8 + 11 + 13 + 15 + 13 + 6 + 7 + 4 + 4 = 96. Of that, A stands there once
    # instead of five times (4 * 7), what a/3 says after it not again (8), B once for three (2 * 4),
    # A and B begin with the same three, b/2 says what b/0 does (3); and a/1's token is one of its
    # siblings' by chance (1).
    rows = all_shapes()
    assert make_micro_batch(rows, share_prefixes=False).num_tokens == 96
    assert make_micro_batch(rows).num_tokens == 96 - 28 - 8 - 8 - 3 - 3 - 1
    assert make_micro_batch(rows).num_tokens == num_prefixes(ids_of(rows))


def test_rows_that_say_the_same_keep_their_own_advantages():
    said = ((5, 6, 7), (0, 1, 1))
    rows = [row_of(*said, advantage=a, name=f"e/{i}") for i, a in enumerate((1.0, -2.0))]
    batch = make_micro_batch(rows)
    assert batch.num_tokens == 3
    assert batch.predictors_N.tolist() == [0, 1, 0, 1]
    assert batch.advantages_N.tolist() == [1.0, 1.0, -2.0, -2.0]


def test_a_first_token_that_nothing_predicts_is_no_loss_token():
    assert make_row((), "sscs", seed=0).num_loss_tokens == 2
    assert make_row((7,), "sscs", seed=0).num_loss_tokens == 3
    batch = make_micro_batch([make_row((), "sscs", seed=0)])
    assert batch.predictors_N.tolist() == [0, 2]


def test_a_row_without_loss_tokens_takes_part_without_any():
    rows = [make_row(PROMPT_A, "cc", seed=0), make_row((7,), "ss", seed=0)]
    batch = make_micro_batch(rows)
    assert batch.rows_N.tolist() == [1, 1]
    batch = make_micro_batch(rows[:1])
    assert batch.num_tokens == 9
    for tensor in (batch.predictors_N, batch.targets_N, batch.rows_N, batch.advantages_N):
        assert len(tensor) == 0
    assert batch.predictors_N.dtype == batch.targets_N.dtype == torch.int64
